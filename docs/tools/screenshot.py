"""Write docs/assets/report.png: the report of a run on examples/*.csv. `make screenshot`."""

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TABLES = ("--edges", "examples/payments.csv", "--nodes", "examples/accounts.csv")
WIDTH, ROWS, CARD_HEIGHT, GAP = 1320, 8, 780, 28


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"No browser found; install one of {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "egoscore", "detect", *TABLES, "--out", folder + "/run"]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        page = (Path(folder) / "run" / "report.html").as_uri()
        parts = photographed(browser, page)
    upper, lower = parts
    image = Image.new("RGB", (WIDTH, upper.height + GAP + lower.height), "white")
    image.paste(upper, (0, 0))
    image.paste(lower, (0, upper.height + GAP))
    image = image.quantize(128, dither=Image.Dither.NONE)
    image.save(ROOT / "docs" / "assets" / "report.png", optimize=True)


def photographed(browser, address):
    """The first rows of the list, and the explanation of the first node."""
    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDTH, "height": 1000})
        page.goto(address)
        card = page.locator("article details").first
        card.evaluate("element => element.open = true")
        row = page.locator("tbody tr").nth(ROWS - 1).bounding_box()
        top = card.bounding_box()["y"]
        clips = ((0, row["y"] + row["height"]), (top, CARD_HEIGHT))
        images = [
            page.screenshot(clip={"x": 0, "y": y, "width": WIDTH, "height": h}, full_page=True)
            for y, h in clips
        ]
        chromium.close()
    return [Image.open(BytesIO(image)).convert("RGB") for image in images]


if __name__ == "__main__":
    main()
