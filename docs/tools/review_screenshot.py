"""Write docs/assets/review.png: the review page of a run on examples/*.csv. `make screenshot`."""

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO

from PIL import Image
from playwright.sync_api import sync_playwright
from screenshot import BROWSERS, ROOT, TABLES

WIDTH, HEIGHT = 1320, 1180
ABNORMAL, NORMAL = ("acc-322", "acc-368", "acc-255"), ("acc-010", "acc-086")
SHOWN = "acc-038"


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"No browser found; install one of {', '.join(BROWSERS)}.")
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/payments"
        egoscore("detect", *TABLES, "--out", run)
        verdicts = ("--abnormal", ",".join(ABNORMAL), "--normal", ",".join(NORMAL))
        egoscore("review", run, *verdicts, "--author", "Ada")
        command = [sys.executable, "-m", "egoscore", "review", run, "--no-browser"]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().removeprefix("Review page: ").strip()
            image = photographed(browser, address)
        finally:
            server.terminate()
            server.wait()
    image = image.quantize(128, dither=Image.Dither.NONE)
    image.save(ROOT / "docs" / "assets" / "review.png", optimize=True)


def egoscore(*arguments):
    command = [sys.executable, "-m", "egoscore", *arguments]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def photographed(browser, address):
    """A node that verdicts moved, with its reasons and its ego-graph."""
    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(address)
        page.get_by_role("link", name=SHOWN, exact=True).first.click()
        page.locator(".comparison").wait_for()
        page.get_by_text("Learning from them").wait_for(state="hidden")
        page.get_by_text("from verdicts").wait_for()
        page.locator(".comparison").wait_for()
        image = page.screenshot()
        chromium.close()
    return Image.open(BytesIO(image)).convert("RGB")


if __name__ == "__main__":
    main()
