"""A small bot over the real slack_bolt, to prove the simulated Slack before anything else."""

import json
import os
import threading
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient

client = WebClient(
    token=os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_URL"], timeout=5
)
app = App(client=client, signing_secret=os.environ["SLACK_SIGNING_SECRET"])
due: list[datetime] = []
seen = {"clock": datetime(2000, 1, 1, tzinfo=UTC), "busy": 0}
lock = threading.Lock()


def clock() -> datetime:
    with urllib.request.urlopen(os.environ["GPUBOT_CLOCK"]) as answer:  # noqa: S310 - loopback
        return datetime.fromisoformat(json.load(answer)["now"])


def button(text: str, action_id: str, value: str) -> dict[str, object]:
    label = {"type": "plain_text", "text": text}
    return {"type": "button", "text": label, "action_id": action_id, "value": value}


def card(text: str) -> list[dict[str, object]]:
    options = [{"text": {"type": "plain_text", "text": n}, "value": n} for n in ("one", "two")]
    select = {"type": "static_select", "action_id": "gpu.choice", "options": options}
    return [
        {"type": "section", "text": {"type": "mrkdwn", "text": text}},
        {"type": "actions", "elements": [button("Ask", "gpu.request", "gpu-1"), select]},
    ]


FORM = {
    "type": "modal",
    "callback_id": "form",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "Form"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "count",
            "label": {"type": "plain_text", "text": "How many"},
            "element": {"type": "plain_text_input", "action_id": "count"},
        }
    ],
}


@app.command("/gpu")
def on_command(ack, body, respond):
    text = body["text"]
    if text.startswith("slow"):
        time.sleep(3.6)
        ack()
        return
    if text.startswith("hello"):
        ack("hello yourself")
        return
    ack()
    channel = body["channel_id"]
    if text.startswith("form"):
        client.views_open(trigger_id=body["trigger_id"], view=FORM)
    elif text.startswith("whisper"):
        respond(text="only you", blocks=card("only you"))
    elif text.startswith("later"):
        begun = clock()
        with lock:
            due.extend(begun + timedelta(hours=h) for h in (24, 30))
    elif text.startswith("die"):
        os._exit(1)
    else:
        client.chat_postMessage(channel=channel, text=text, blocks=card(text or "empty"))


@app.action("gpu.request")
def on_request(ack, body, respond):
    ack()
    if "view" in body:
        client.chat_postMessage(channel=body["user"]["id"], text="pressed at home")
    elif body["container"]["is_ephemeral"]:
        respond(text="replaced", replace_original=True)
    else:
        ts, channel = body["container"]["message_ts"], body["channel"]["id"]
        client.chat_update(channel=channel, ts=ts, text=f"asked by {body['user']['team_id']}")


@app.action("gpu.choice")
def on_choice(ack, body):
    ack()
    value = body["actions"][0]["selected_option"]["value"]
    client.chat_postMessage(channel=body["channel"]["id"], text=f"chose {value}")


@app.view("form")
def on_form(ack, body):
    count = body["view"]["state"]["values"]["count"]["count"]["value"]
    if not count.isdigit():
        ack(response_action="errors", errors={"count": "a number, please"})
        return
    ack()
    client.chat_postMessage(channel="C0GPU", text=f"form says {count}")


@app.view_closed("form")
def on_close(ack):
    ack()
    client.chat_postMessage(channel="C0GPU", text="form closed")


@app.event("app_home_opened")
def on_home(event):
    view = {"type": "home", "blocks": card(f"home of {event['user']}")}
    client.views_publish(user_id=event["user"], view=view)


def sweep() -> None:
    while True:
        now = clock()
        with lock:
            ready = [moment for moment in due if moment <= now]
        for moment in ready:
            client.chat_postMessage(channel="C0GPU", text=f"due {moment.isoformat()}")
            with lock:
                due.remove(moment)
        seen["clock"] = now
        time.sleep(0.01)


class Door(BaseHTTPRequestHandler):
    def do_GET(self):
        with lock:
            moments = sorted(due)
        connected = socket is None or (socket.client is not None and socket.client.is_connected())
        now = seen["clock"]
        waiting = sum(moment <= now for moment in moments)
        body = {
            "status": "ok",
            "mode": "http" if socket is None else "socket",
            "connected": connected,
            "clock": now.isoformat(),
            "backlog": {"inbox": 0, "outbox": 0, "due": waiting, "purchases": 0},
            "next_due": moments[0].isoformat() if moments else None,
        }
        self.answer(200, json.dumps(body), {"Content-Type": ["application/json"]})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
        answer = app.dispatch(BoltRequest(body=raw, headers=dict(self.headers.items())))
        self.answer(answer.status, answer.body, answer.headers)

    def answer(self, status, body, headers):
        data = body.encode()
        self.send_response(status)
        for name, values in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, values[0])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


socket = None
if "SLACK_APP_TOKEN" in os.environ:
    socket = SocketModeHandler(app, os.environ["SLACK_APP_TOKEN"], ping_interval=1)
threading.Thread(target=sweep, daemon=True).start()
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Door)
threading.Thread(target=server.serve_forever, daemon=True).start()
if socket is not None:
    socket.connect()
threading.Event().wait()
