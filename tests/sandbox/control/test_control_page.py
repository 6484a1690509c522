"""The page in a real browser: commands, clicks, modals, Home tab, and no text as markup."""

from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser, world):
    faults = []
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(8000)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    opened.goto(world.address + "/")
    opened.wait_for_selector("#places button")
    yield opened
    opened.close()
    assert faults == []


def send(page, text):
    page.fill("#command", text)
    page.press("#command", "Enter")


def test_a_typed_command_brings_a_card_whose_button_works(page):
    send(page, "from the page")
    card = page.locator(".message", has_text="from the page")
    card.wait_for()
    page.wait_for_selector("#ack:has-text('acknowledged')")
    card.locator("button[data-action='gpu.request']").click()
    page.wait_for_selector("text=asked by T0GPU")


def test_a_modal_shows_its_errors_and_closes_when_it_is_right(page):
    page.select_option("#person", "U0DIEGO")
    send(page, "form")
    page.wait_for_selector("#modal[open]")
    page.fill("#modal-body input", "many")
    page.click("#modal-submit")
    page.wait_for_selector("text=a number, please")
    page.fill("#modal-body input", "12")
    page.click("#modal-submit")
    page.wait_for_selector("#modal:not([open])", state="attached")
    page.wait_for_selector("text=form says 12")


def test_the_home_tab_opens(page):
    page.click("#places button:has-text('Home')")
    page.wait_for_selector("text=home of U0ANA")


def test_text_is_never_markup(page, world):
    world.api(
        "chat.postMessage",
        channel="C0GPU",
        text="t",
        blocks=[
            {
                "type": "section",
                "text": {
                    "type": "mrkdwn",
                    "text": "<img src=x onerror=document.title='gone'> &lt;b&gt; *bold* `code` "
                    "<javascript:alert(1)|press> <https://example.com|safe>",
                },
            }
        ],
    )
    page.wait_for_selector("text=bold")
    last = page.locator(".message").last
    assert last.locator("img, b").count() == 0
    assert last.locator("strong", has_text="bold").count() == 1
    assert [a.get_attribute("href") for a in last.locator("a").all()] == ["https://example.com"]
    assert page.title() == "gpubot sandbox"


def test_a_date_is_shown_in_the_zone_of_the_person(page, world):
    text = "starts <!date^1804937400^{date_num} {time}|a fallback>"
    world.api("chat.postMessage", channel="C0GPU", text=text)
    page.wait_for_selector("time[title='a fallback']:has-text('12:30')")
    page.select_option("#person", "U0DIEGO")
    page.wait_for_selector("time[title='a fallback']:has-text('6:30')")


def test_the_page_fits_a_phone_and_moves_the_clock(page, world):
    page.set_viewport_size({"width": 375, "height": 700})
    page.click("[data-show='world']")
    before = world.get("/control/clock")["now"]
    page.click("[data-advance='1h']")
    page.wait_for_selector("#clock-said:has-text('It is')")
    assert world.get("/control/clock")["now"] > before
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 375


@pytest.mark.parametrize("width", [320, 360])
def test_on_the_narrowest_phones_the_whole_person_can_be_read(page, width):
    page.set_viewport_size({"width": width, "height": 640})
    picker = page.evaluate("document.querySelector('#person').getBoundingClientRect().toJSON()")
    # "Eve · another organisation" with the arrow beside it needs some 240 pixels.
    assert picker["width"] >= 240
    assert picker["right"] <= width
