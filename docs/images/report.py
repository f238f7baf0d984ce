"""Draws `report.png`, the picture of a report: `python docs/images/report.py`.

It needs Pillow, Playwright and Debian's chromium.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from largemargin import SVC, data
from largemargin.report import fit_report

WIDTH = 1100


def main() -> None:
    digits = data.load("digits")
    model = SVC(C=10).fit(digits.X, digits.y)
    report = fit_report(model, digits.X_test, digits.y_test, digits.X, digits.y, name="digits")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        report.save(page_file)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(page_file.as_uri())
        box = page.locator("section[aria-labelledby=decision]").bounding_box()
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 24}
        picture = page.screenshot(full_page=True, clip=clip)
        browser.close()
    few_colours = Image.open(BytesIO(picture)).convert("RGB").quantize(256)
    few_colours.save(Path(__file__).with_suffix(".png"), optimize=True)


if __name__ == "__main__":
    main()
