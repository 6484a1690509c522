// Block Kit as DOM nodes. `act(element, block, value)` is called when a person acts on an element.

import { emoji, linked, mrkdwn, node, unescapeText } from "/page/mrkdwn.js";

export function renderBlocks(blocks, context) {
  const out = node("div", { class: "blocks" });
  for (const block of blocks) out.append(renderBlock(block, context));
  return out;
}

function renderBlock(block, context) {
  switch (block.type) {
    case "header": return node("p", { class: "b-header" }, emoji(block.text.text));
    case "divider": return node("hr", { class: "b-divider" });
    case "section": return section(block, context);
    case "context": return node("div", { class: "b-context" }, ...block.elements.map((e) => e.type === "image" ? node("span", {}, e.alt_text) : textObject(e, context)));
    case "actions": return node("div", { class: "b-actions" }, ...block.elements.map((e) => element(e, block, context)));
    case "image": return node("p", { class: "quiet" }, `Image: ${block.alt_text}`);
    case "input": return input(block, context);
    case "markdown": return mrkdwn(block.text, context.who);
    case "alert": return textObject(block.text, context);
    case "rich_text": return node("div", {}, ...block.elements.map((e) => rich(e, context)));
    case "table": return table(block, context);
    default: return node("p", { class: "quiet" }, `A block of type ${block.type}`);
  }
}

export function textObject(text, context) {
  if (text.type === "mrkdwn") return mrkdwn(text.text, context.who);
  return node("div", { class: "text" }, emoji(text.text));
}

function section(block, context) {
  const main = node("div", { class: "main" });
  if (block.text) main.append(textObject(block.text, context));
  if (block.fields) main.append(node("div", { class: "fields" }, ...block.fields.map((f) => textObject(f, context))));
  const made = node("div", { class: "b-section" }, main);
  if (block.accessory) made.append(element(block.accessory, block, context));
  return made;
}

function input(block, context) {
  const id = `i-${block.block_id}`;
  const wrong = node("span", { class: "wrong", "data-wrong": block.block_id });
  const hint = block.hint ? node("span", { class: "hint" }, emoji(block.hint.text)) : null;
  const label = node("label", { for: id }, emoji(block.label.text), block.optional ? node("span", { class: "quiet" }, " (optional)") : null);
  return node("div", { class: "b-input" }, label, element(block.element, block, context, id), hint, wrong);
}

function rich(part, context) {
  if (part.type === "rich_text_list") {
    return node(part.style === "ordered" ? "ol" : "ul", {}, ...part.elements.map((e) => node("li", {}, rich(e, context))));
  }
  const tag = { rich_text_preformatted: "pre", rich_text_quote: "blockquote" }[part.type] ?? "span";
  const made = node(tag, { class: "text" });
  for (const piece of part.elements ?? []) made.append(richPiece(piece, context));
  return made;
}

function richPiece(piece, context) {
  let made = document.createTextNode(piece.text ?? "");
  if (piece.type === "link") made = linked(piece.url, piece.text);
  else if (piece.type === "user") made = node("span", { class: "mention" }, `@${context.who.userName(piece.user_id) ?? piece.user_id}`);
  else if (piece.type === "channel") made = node("span", { class: "mention" }, `#${context.who.channelName(piece.channel_id) ?? piece.channel_id}`);
  else if (piece.type === "emoji") made = document.createTextNode(emoji(`:${piece.name}:`));
  else if (piece.type === "broadcast") made = node("span", { class: "mention" }, `@${piece.range}`);
  else if (piece.type === "date") made = node("time", {}, piece.fallback ?? new Date(piece.timestamp * 1000).toISOString());
  const style = piece.style ?? {};
  for (const [name, tag] of [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"]]) {
    if (style[name]) made = node(tag, {}, made);
  }
  return made;
}

function table(block, context) {
  const cell = (c) => node("td", {}, c.type === "rich_text" ? renderBlock(c, context) : String(c.text ?? c.value ?? ""));
  return node("table", {}, ...block.rows.map((row) => node("tr", {}, ...row.map(cell))));
}

function optionsOf(e) {
  return [...(e.options ?? []), ...(e.option_groups ?? []).flatMap((g) => g.options)];
}

function label(option) {
  return emoji(option.text.type === "mrkdwn" ? unescapeText(option.text.text) : option.text.text);
}

function confirmed(e) {
  if (!e.confirm) return true;
  return window.confirm(`${e.confirm.title.text}\n\n${e.confirm.text.text}`);
}

function initial(e, block, context) {
  return context.values?.[block.block_id]?.[e.action_id] ?? null;
}

function element(e, block, context, id) {
  const inForm = block.type === "input" && context.form;
  const report = (value) => { if (!inForm) { if (confirmed(e)) context.act(e, block, value); } };
  const common = { id, "data-block": block.block_id, "data-action": e.action_id, "data-kind": e.type, "aria-label": id ? undefined : e.action_id };
  const known = initial(e, block, context) ?? {};
  const placeholder = e.placeholder ? emoji(e.placeholder.text) : undefined;
  switch (e.type) {
    case "button": {
      const press = node("button", { type: "button", class: e.style ?? "", "data-action": e.action_id }, emoji(e.text.text));
      press.addEventListener("click", () => {
        if (!confirmed(e)) return;
        if (e.url && /^https?:/i.test(e.url)) window.open(e.url, "_blank", "noopener");
        context.act(e, block, undefined);
      });
      return press;
    }
    case "overflow": return select(e, { ...common, class: "overflow-menu", "aria-label": "More" }, "⋯", null, report, true);
    case "static_select": case "external_select":
      return select(e, common, placeholder ?? "Choose…", known.selected_option?.value, report, !inForm);
    case "users_select": return pick(common, context.who.users(), known.selected_user ?? e.initial_user, placeholder, report);
    case "channels_select": case "conversations_select":
      return pick(common, context.who.channels(), known.selected_channel ?? known.selected_conversation, placeholder, report);
    case "radio_buttons": return boxes(e, common, "radio", [known.selected_option?.value], report);
    case "checkboxes": return boxes(e, common, "checkbox", (known.selected_options ?? []).map((o) => o.value), report);
    case "multi_static_select": return boxes(e, common, "checkbox", (known.selected_options ?? []).map((o) => o.value), report);
    case "plain_text_input": case "email_text_input": case "url_text_input": case "number_input":
      return typed(e, common, known.value ?? e.initial_value ?? "", placeholder, report);
    case "datepicker": return field("date", common, known.selected_date ?? e.initial_date, report);
    case "timepicker": return field("time", common, known.selected_time ?? e.initial_time, report);
    case "datetimepicker": return field("datetime-local", common, utcField(known.selected_date_time ?? e.initial_date_time), report);
    default: return node("span", { class: "quiet" }, `An element of type ${e.type}`);
  }
}

function select(e, common, placeholder, chosen, report, resets) {
  const made = node("select", common, node("option", { value: "" }, placeholder));
  for (const option of e.options ?? []) made.append(node("option", { value: option.value, selected: option.value === chosen }, label(option)));
  for (const group of e.option_groups ?? []) {
    made.append(node("optgroup", { label: group.label.text }, ...group.options.map((o) => node("option", { value: o.value, selected: o.value === chosen }, label(o)))));
  }
  made.addEventListener("change", () => {
    if (!made.value) return;
    report(made.value);
    if (resets && e.type === "overflow") made.value = "";
  });
  return made;
}

function pick(common, entries, chosen, placeholder, report) {
  const made = node("select", common, node("option", { value: "" }, placeholder ?? "Choose…"));
  for (const [value, name] of entries) made.append(node("option", { value, selected: value === chosen }, name));
  made.addEventListener("change", () => made.value && report(made.value));
  return made;
}

function boxes(e, common, type, chosen, report) {
  const made = node("div", { ...common, class: "choices", role: type === "radio" ? "radiogroup" : "group" });
  for (const option of optionsOf(e)) {
    const box = node("input", { type, name: `${common["data-block"]}-${e.action_id}`, value: option.value, checked: chosen.includes(option.value) });
    box.addEventListener("change", () => {
      const values = [...made.querySelectorAll("input:checked")].map((b) => b.value);
      report(type === "radio" ? values[0] : values);
    });
    made.append(node("label", {}, box, label(option)));
  }
  return made;
}

function typed(e, common, value, placeholder, report) {
  const made = e.multiline
    ? node("textarea", { ...common, placeholder })
    : node("input", { ...common, placeholder, type: "text", inputmode: e.type === "number_input" ? "decimal" : undefined });
  made.value = value;
  made.addEventListener("keydown", (event) => { if (event.key === "Enter" && !e.multiline && e.dispatch_action_config) report(made.value); });
  return made;
}

function field(type, common, value, report) {
  const made = node("input", { ...common, type });
  if (value) made.value = value;
  made.addEventListener("change", () => made.value && report(type === "datetime-local" ? Date.parse(`${made.value}Z`) / 1000 : made.value));
  return made;
}

function utcField(seconds) {
  return seconds ? new Date(seconds * 1000).toISOString().slice(0, 16) : undefined;
}

export function collect(root) {
  // The values of a form, by block and action, as the control surface takes them.
  const values = {};
  for (const part of root.querySelectorAll("[data-kind]")) {
    const kind = part.dataset.kind;
    let value = part.value || null;
    if (kind === "overflow") continue;
    if (kind === "radio_buttons") value = part.querySelector("input:checked")?.value ?? null;
    else if (kind === "checkboxes" || kind === "multi_static_select") value = [...part.querySelectorAll("input:checked")].map((b) => b.value);
    else if (kind === "datetimepicker") value = part.value ? Date.parse(`${part.value}Z`) / 1000 : null;
    (values[part.dataset.block] ??= {})[part.dataset.action] = value;
  }
  return values;
}
