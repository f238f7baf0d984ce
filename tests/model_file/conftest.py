import pytest

from largemargin import load, save


@pytest.fixture
def again(tmp_path):
    """A model that went through a file."""

    def through_file(model):
        save(model, tmp_path / "m.safetensors")
        return load(tmp_path / "m.safetensors")

    return through_file
