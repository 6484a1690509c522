// Slack's mrkdwn as DOM nodes. Text only ever becomes text nodes: nothing is parsed as HTML.
// Rules: docs.slack.dev, "Formatting message text".

const EMOJI = {
  white_check_mark: "✅", x: "❌", warning: "⚠️", hourglass: "⌛", hourglass_flowing_sand: "⏳",
  rotating_light: "🚨", tada: "🎉", calendar: "📅", moneybag: "💰", lock: "🔒", bell: "🔔",
  information_source: "ℹ️", eyes: "👀", no_entry: "⛔", red_circle: "🔴", large_green_circle: "🟢",
  large_yellow_circle: "🟡", wave: "👋", rocket: "🚀", alarm_clock: "⏰", mag: "🔍", memo: "📝",
};

const MARKS = [["*", "strong"], ["_", "em"], ["~", "s"]];

export function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function unescapeText(text) {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

export function emoji(text) {
  return text.replace(/:([a-z0-9_+-]+):/g, (all, name) => EMOJI[name] ?? all);
}

export function mrkdwn(text, who) {
  const out = node("div", { class: "text" });
  for (const [index, part] of text.split("```").entries()) {
    if (index % 2) out.append(node("pre", {}, unescapeText(part.replace(/^\n|\n$/g, ""))));
    else lines(part, who, out);
  }
  return out;
}

function lines(text, who, out) {
  let quote = null;
  for (const [index, line] of text.split("\n").entries()) {
    const quoted = /^(&gt;|>) ?/.exec(line);
    if (quoted) {
      if (quote) quote.append("\n");
      else out.append((quote = node("blockquote")));
      inline(line.slice(quoted[0].length), who, quote);
      continue;
    }
    if (index && !quote) out.append("\n");
    quote = null;
    inline(line, who, out);
  }
}

function inline(text, who, out) {
  let plain = "";
  const flush = () => { if (plain) { out.append(emoji(unescapeText(plain))); plain = ""; } };
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const code = /^`([^`]+)`/.exec(rest);
    const reference = /^<([^<>]+)>/.exec(rest);
    const mark = code || reference ? null : marked(text, at);
    if (code) { flush(); out.append(node("code", {}, unescapeText(code[1]))); at += code[0].length; }
    else if (reference) { flush(); out.append(referred(reference[1], who)); at += reference[0].length; }
    else if (mark) { flush(); const inner = node(mark.tag); inline(mark.inside, who, inner); out.append(inner); at += mark.length; }
    else { plain += text[at]; at += 1; }
  }
  flush();
}

function marked(text, at) {
  const before = at ? text[at - 1] : " ";
  if (/[\p{L}\p{N}]/u.test(before)) return null;
  for (const [sign, tag] of MARKS) {
    if (text[at] !== sign || /\s/.test(text[at + 1] ?? " ")) continue;
    for (let end = text.indexOf(sign, at + 2); end > 0; end = text.indexOf(sign, end + 1)) {
      if (/\s/.test(text[end - 1]) || /[\p{L}\p{N}]/u.test(text[end + 1] ?? " ")) continue;
      return { tag, inside: text.slice(at + 1, end), length: end - at + 1 };
    }
  }
  return null;
}

function referred(body, who) {
  const bar = body.indexOf("|");
  const target = bar < 0 ? body : body.slice(0, bar);
  const label = bar < 0 ? "" : unescapeText(body.slice(bar + 1));
  if (target.startsWith("@")) return node("span", { class: "mention" }, `@${who.userName(target.slice(1)) ?? label}`);
  if (target.startsWith("#")) return node("span", { class: "mention" }, `#${label || who.channelName(target.slice(1)) || target.slice(1)}`);
  if (target.startsWith("!date^")) return dated(target, label, who);
  if (target.startsWith("!")) return node("span", { class: "mention" }, label || `@${target.slice(1).split("^")[0]}`);
  return linked(unescapeText(target), label);
}

export function linked(address, label) {
  const safe = /^(https?:|mailto:)/i.test(address);
  if (!safe) return document.createTextNode(label || address);
  return node("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, label || address);
}

function dated(target, fallback, who) {
  const [, epoch, format, link] = target.split("^");
  const moment = new Date(Number(epoch) * 1000);
  if (Number.isNaN(moment.getTime()) || !format) return document.createTextNode(fallback);
  const shown = format.replace(/\{(\w+)\}/g, (all, name) => token(name, moment, who) ?? all);
  const made = node("time", { datetime: moment.toISOString(), title: fallback }, unescapeText(shown));
  return link ? linked(link, shown) : made;
}

function token(name, moment, who) {
  const format = (options) => new Intl.DateTimeFormat(who.locale(), { timeZone: who.zone(), ...options }).format(moment);
  const long = { weekday: "long", month: "long", day: "numeric", year: "numeric" };
  const pretty = (options) => relative(moment, who) ?? format(options);
  switch (name) {
    case "date_num": return format({ year: "numeric", month: "2-digit", day: "2-digit" });
    case "date": return format({ month: "long", day: "numeric", year: "numeric" });
    case "date_short": return format({ month: "short", day: "numeric", year: "numeric" });
    case "date_long": return format(long);
    case "date_pretty": return pretty({ month: "long", day: "numeric", year: "numeric" });
    case "date_short_pretty": return pretty({ month: "short", day: "numeric", year: "numeric" });
    case "date_long_pretty": return pretty(long);
    case "time": return format({ hour: "numeric", minute: "2-digit" });
    case "time_secs": return format({ hour: "numeric", minute: "2-digit", second: "2-digit" });
    case "ago": return ago(moment, who);
    default: return null;
  }
}

function relative(moment, who) {
  const day = (date) => {
    const parts = new Intl.DateTimeFormat("en-CA", { timeZone: who.zone() }).format(date);
    return Date.parse(`${parts}T00:00:00Z`) / 86_400_000;
  };
  const apart = day(moment) - day(who.now());
  if (Math.abs(apart) > 1) return null;
  return new Intl.RelativeTimeFormat(who.locale(), { numeric: "auto" }).format(apart, "day");
}

function ago(moment, who) {
  const minutes = Math.round((moment - who.now()) / 60_000);
  const format = new Intl.RelativeTimeFormat(who.locale(), { numeric: "auto" });
  if (Math.abs(minutes) < 90) return format.format(minutes, "minute");
  if (Math.abs(minutes) < 36 * 60) return format.format(Math.round(minutes / 60), "hour");
  return format.format(Math.round(minutes / 1440), "day");
}
