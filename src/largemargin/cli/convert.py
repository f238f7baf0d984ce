"""`largemargin convert`: a model file of one tool as that of another."""

from __future__ import annotations

from typing import Annotated

import typer

from largemargin.cli.output import emit


def convert(
    source: Annotated[
        str, typer.Argument(help="A model file, of largemargin or of LIBSVM or ThunderSVM.")
    ],
    target: Annotated[
        str, typer.Argument(help="The file to write: .safetensors, .onnx, .model or .libsvm.")
    ],
    n_features: Annotated[
        int | None,
        typer.Option(
            help="Features of the rows to come, of a model of LIBSVM, which leaves out zeros. "
            "[default: the largest index in the file]",
            show_default=False,
            min=1,
        ),
    ] = None,
) -> None:
    """Write a model for another tool, or take one from LIBSVM: the ending says which format.

    .onnx answers in any ONNX runtime, without Python: input X, outputs label and scores. .model and
    .libsvm are files of LIBSVM, for SVMs of two classes or of pairs (--multiclass ovo).

    \b
    Examples:
      largemargin convert digits.safetensors digits.onnx
      largemargin convert theirs.model ours.safetensors
    """
    from largemargin.base.pipelines import final_step
    from largemargin.interchange.converting import convert as write
    from largemargin.runtime.files import check_writable

    check_writable(target, source)
    model = write(source, target, n_features)
    classes = getattr(model, "classes_", ())
    known = f", {len(classes)} classes" if len(classes) else ""
    name, width = type(final_step(model)).__name__, model.n_features_in_
    emit(f"wrote {target}: {name}, {width} feature{'s' * (width != 1)}{known}")
