// The page: everything it does goes through the same control surface that scripts use.

import { collect, renderBlocks } from "/page/blocks.js";
import { mrkdwn, node } from "/page/mrkdwn.js";

const LOOK_MS = 800;
const HOME = "home";
const MOST_CALLS = 60;
const $ = (id) => document.getElementById(id);
const state = { people: [], channels: [], user: "U0ANA", place: "C0GPU", now: new Date(), shown: {}, viewHash: "" };

async function call(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  const json = await answer.json();
  if (!answer.ok && path !== "/control/ready") throw new Error(json?.error ?? `HTTP ${answer.status}`);
  return json;
}

const who = {
  person: () => state.people.find((p) => p.id === state.user),
  zone: () => who.person()?.tz ?? "UTC",
  locale: () => who.person()?.locale ?? "en-US",
  now: () => state.now,
  userName: (id) => (id === "U0GPUBOT" ? "gpubot" : state.people.find((p) => p.id === id)?.name),
  channelName: (id) => state.channels.find((c) => c.id === id)?.name,
  users: () => state.people.map((p) => [p.id, p.real_name]),
  channels: () => state.channels.filter((c) => !c.direct_with).map((c) => [c.id, `#${c.name}`]),
};

function say(id, text, bad = false) {
  $(id).textContent = text;
  $(id).classList.toggle("bad", bad);
}

function changed(key, value) {
  const text = JSON.stringify(value);
  if (state.shown[key] === text) return false;
  state.shown[key] = text;
  return true;
}

function moment(iso, zone = "UTC") {
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" }).format(new Date(iso));
}

// Places and people

function drawPeople() {
  $("person").replaceChildren(...state.people.map((p) => {
    const name = p.name.charAt(0).toUpperCase() + p.name.slice(1);
    return node("option", { value: p.id, selected: p.id === state.user }, p.role ? `${name} · ${p.role}` : name);
  }));
}

function drawPlaces() {
  const place = (id, name) => node("button", { type: "button", "aria-current": String(state.place === id), onclick: () => go(id) }, name);
  const own = who.person()?.direct_channel;
  $("places").replaceChildren(
    node("h2", {}, "Channels"),
    ...state.channels.filter((c) => !c.direct_with).map((c) => place(c.id, `# ${c.name}`)),
    node("h2", {}, "gpubot"),
    place(own, "Messages"),
    place(HOME, "Home"),
  );
  const channel = state.channels.find((c) => c.id === state.place);
  $("place-name").textContent = state.place === HOME ? "gpubot · Home" : channel?.direct_with ? "gpubot · direct messages" : `# ${channel?.name}`;
  $("place-note").textContent = channel?.is_ext_shared ? "Shared with another organisation" : `${who.person()?.real_name}, ${who.zone()}`;
  $("composer").hidden = state.place === HOME;
}

async function go(place) {
  state.place = place;
  state.shown.messages = undefined;
  state.shown.home = undefined;
  say("ack", "");
  drawPlaces();
  if (document.body.dataset.pane === "places") pane("talk");
  if (place === HOME) await call(`/control/slack/view?user=${state.user}&home=1`);
  await look();
}

function pane(name) {
  document.body.dataset.pane = name;
  for (const tab of document.querySelectorAll("[data-show]")) tab.setAttribute("aria-current", String(tab.dataset.show === name));
}

// Messages, Home tab and modals

function drawMessages(messages) {
  const box = $("messages");
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  const roots = messages.filter((m) => !m.thread_ts || m.thread_ts === m.ts || !messages.some((r) => r.ts === m.thread_ts));
  const ordered = roots.flatMap((root) => [root, ...messages.filter((m) => m !== root && m.thread_ts === root.ts && m.ts !== root.ts)]);
  const rows = ordered.map((m) => drawMessage(m, !roots.includes(m)));
  box.replaceChildren(...(rows.length ? rows : [node("p", { class: "empty" }, "Nothing here yet. Type a command below.")]));
  if (atEnd) box.scrollTop = box.scrollHeight;
}

function drawMessage(message, reply) {
  const kinds = ["message", reply && "reply", message.only_for && "only", message.deleted && "deleted"].filter(Boolean).join(" ");
  const iso = new Date(Number(message.ts) * 1000).toISOString();
  const head = node("div", { class: "message-head" },
    node("strong", {}, who.userName(message.user) ?? "Slack"),
    node("time", { datetime: iso, title: iso }, moment(iso, who.zone())),
    message.only_for ? node("span", {}, "Only visible to you") : null,
    message.edited ? node("span", {}, "(edited)") : null,
    message.deleted ? node("span", {}, "deleted") : null);
  const act = (element, block, value) => click({ channel: state.place, ts: message.ts, action_id: element.action_id, value: value ?? element.value });
  const body = message.blocks.length ? renderBlocks(message.blocks, { who, act }) : node("div", { class: "blocks" }, mrkdwn(message.text, who));
  return node("article", { class: kinds, "data-ts": message.ts }, head, body);
}

async function click(body) {
  try {
    const ack = await call("/control/slack/click", { user: state.user, ...body });
    told(ack);
  } catch (error) { say("ack", error.message, true); }
  await look();
}

function told(ack) {
  if (ack.status === "ok") say("ack", `acknowledged in ${ack.ack_ms} ms`);
  else say("ack", `${ack.error} after ${ack.ack_ms} ms`, true);
}

function drawHome(view) {
  const act = (element, block, value) => click({ view: true, action_id: element.action_id, value: value ?? element.value });
  const context = { who, act, values: view?.state.values };
  $("messages").replaceChildren(view ? renderBlocks(view.blocks, context) : node("p", { class: "empty" }, "The bot has not published a Home tab for this person."));
}

function drawModal(view) {
  const dialog = $("modal");
  if (!view) { if (dialog.open) dialog.close(); state.viewHash = ""; return; }
  const mark = `${view.id} ${view.hash}`;
  if (mark === state.viewHash) return;
  const typed = state.viewHash.startsWith(`${view.id} `) ? collect($("modal-body")) : {};
  state.viewHash = mark;
  $("modal-title").textContent = view.title.text;
  say("modal-said", "");
  $("modal-submit").hidden = !view.submit;
  $("modal-submit").textContent = view.submit?.text ?? "";
  const act = (element, block, value) => click({ view: true, action_id: element.action_id, value: value ?? element.value });
  $("modal-body").replaceChildren(...renderBlocks(view.blocks, { who, act, form: true, values: view.state.values }).childNodes);
  // What was typed stays where block and action are unchanged, as in Slack.
  for (const part of $("modal-body").querySelectorAll("[data-kind]")) {
    const kept = typed[part.dataset.block]?.[part.dataset.action];
    if (typeof kept === "string" && "value" in part) part.value = kept;
  }
  if (!dialog.open) {
    dialog.showModal();
    $("modal-body").querySelector("input, select, textarea")?.focus();
  }
}

async function submitModal(event) {
  event.preventDefault();
  for (const mark of document.querySelectorAll("[data-wrong]")) mark.textContent = "";
  try {
    const answer = await call("/control/slack/submit", { user: state.user, values: collect($("modal-body")) });
    for (const [block, text] of Object.entries(answer.errors)) {
      const mark = [...document.querySelectorAll("[data-wrong]")].find((m) => m.dataset.wrong === block);
      if (mark) mark.textContent = text;
    }
    if (answer.status !== "ok") say("modal-said", answer.error, true);
  } catch (error) { say("modal-said", error.message, true); }
  await look();
}

// The world: time, bot, AWS

function drawBot(bot) {
  $("bot-dot").className = `dot ${bot.running ? "up" : "down"}`;
  $("bot-dot").setAttribute("aria-label", bot.running ? "bot is running" : "bot is down");
  $("bot-dot").title = bot.running ? "bot is running" : "bot is down";
  $("bot-said").textContent = bot.running ? `Running, pid ${bot.pid}, for ${Math.round(bot.uptime)} s. Restarts:\u00a0${bot.restarts}.` : `Down (exit status ${bot.exit_status}). Log: ${bot.log}`;
  $("bot-kill").disabled = !bot.running;
  $("bot-start").disabled = bot.running;
}

function drawSold(sold) {
  $("sold-count").textContent = sold.length || "";
  $("sold").replaceChildren(...(sold.length ? sold.map((s) => node("div", { class: "item" },
    node("strong", {}, node("span", {}, `${s.instance_count} × ${s.instance_type}`), node("span", {}, s.state)),
    node("div", { class: "quiet" }, `${s.kind}, ${s.zone ?? s.region}, ${s.fee === null || s.fee === undefined ? "hourly" : `$${Number(s.fee).toLocaleString("en-US", { minimumFractionDigits: 2 })}`}`),
    node("div", { class: "quiet" }, `${s.start ? moment(s.start) : "now"} to ${s.end ? moment(s.end) : "open end"}`),
    node("div", { class: "quiet" }, s.id))) : [node("p", { class: "quiet" }, "Nothing yet.")]));
}

function drawCalls(calls) {
  $("calls-count").textContent = calls.length === MOST_CALLS ? `last ${MOST_CALLS}` : calls.length || "";
  $("calls").replaceChildren(...calls.reverse().map((c) => node("div", { class: "item" },
    node("strong", {}, node("span", {}, c.operation), node("span", { class: ["ok", "DryRunOperation"].includes(c.outcome) ? "quiet" : "bad" }, String(c.outcome))),
    node("div", { class: "quiet" }, `${moment(c.at)} · ${c.region}`),
    node("details", {}, node("summary", {}, "parameters"), node("code", {}, JSON.stringify(c.params))))));
}

function drawClock() {
  const iso = state.now.toISOString();
  $("clock-utc").textContent = moment(iso);
  $("clock-local").textContent = `${moment(iso, who.zone())} for ${who.person()?.name ?? ""}`;
  $("time").textContent = `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

async function jump(body) {
  say("clock-said", "Going there, event by event…");
  try {
    const answer = await call("/control/clock", body);
    say("clock-said", `It is ${moment(answer.now)}.`);
  } catch (error) { say("clock-said", error.message, true); }
  await look();
}

async function order(event, path, read) {
  event.preventDefault();
  const given = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== ""));
  try {
    await call(path, read(given));
    say("fault-said", "Set.");
  } catch (error) { say("fault-said", error.message, true); }
}

const counted = (given) => ({ ...given, ...(given.times ? { times: Number(given.times) } : {}) });
const withMore = ({ more, ...given }) => ({ ...given, ...(more ? JSON.parse(more) : {}) });

// Looking again and again

async function look() {
  const [clock, bot, modal] = await Promise.all([
    call("/control/clock"), call("/control/bot"), call(`/control/slack/view?user=${state.user}`)]);
  state.now = new Date(clock.now);
  drawClock();
  drawBot(bot);
  drawModal(modal);
  if (state.place === HOME) {
    const home = await call(`/control/slack/view?user=${state.user}&home=1&open=0`);
    if (state.place === HOME && changed("home", home)) drawHome(home);
  } else {
    const place = state.place;
    const messages = await call(`/control/slack/messages?channel=${place}&user=${state.user}`);
    if (state.place === place && changed("messages", [place, state.user, messages])) drawMessages(messages);
  }
  const only = $("calls-filter").value.trim();
  const [sold, calls] = await Promise.all([call("/control/aws/sold"), call(`/control/aws/calls?last=${MOST_CALLS}${only ? `&operation=${encodeURIComponent(only)}` : ""}`)]);
  if (changed("sold", sold)) drawSold(sold);
  if (changed("calls", calls)) drawCalls(calls);
}

async function keepLooking() {
  try { await look(); } catch { $("bot-dot").className = "dot"; }
  setTimeout(keepLooking, LOOK_MS);
}

async function begin() {
  const known = await call("/control/slack/people");
  Object.assign(state, known);
  drawPeople();
  drawPlaces();
  pane("talk");
  $("person").addEventListener("change", () => {
    const direct = who.person()?.direct_channel;
    state.user = $("person").value;
    go(state.place === direct ? who.person().direct_channel : state.place);
  });
  $("composer").addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = $("command").value;
    $("command").value = "";
    say("ack", "…");
    try { told(await call("/control/slack/command", { user: state.user, channel: state.place, text })); }
    catch (error) { say("ack", error.message, true); $("command").value = text; }
    await look();
  });
  for (const tab of document.querySelectorAll("[data-show]")) tab.addEventListener("click", () => pane(tab.dataset.show));
  for (const button of document.querySelectorAll("[data-advance]")) button.addEventListener("click", () => jump({ advance: button.dataset.advance }));
  $("clock-form").addEventListener("submit", (event) => { event.preventDefault(); jump({ set: `${$("clock-set").value}:00Z` }); });
  $("bot-kill").addEventListener("click", () => call("/control/bot/kill", {}).then(look));
  $("bot-start").addEventListener("click", () => call("/control/bot/start", {}).then(look));
  $("aws-fault").addEventListener("submit", (event) => order(event, "/control/aws/fault", counted));
  $("aws-event").addEventListener("submit", (event) => order(event, "/control/aws/event", withMore));
  $("slack-fault").addEventListener("submit", (event) => order(event, "/control/slack/fault", counted));
  $("modal-form").addEventListener("submit", submitModal);
  const close = async (event) => { event.preventDefault(); await call("/control/slack/close", { user: state.user }); await look(); };
  $("modal-close").addEventListener("click", close);
  $("modal").addEventListener("cancel", close);
  keepLooking();
}

begin();
