"""Splits what is too long for one Slack message (docs.slack.dev, "Blocks"; node-slack-sdk#2509).

A message takes 50 blocks and, though no page says so, about 13,000 characters in all of them.
"""

import json
from collections.abc import Iterable

from handlers.rendering import cut_mrkdwn
from handlers.reply import Block, Message

MOST_BLOCKS = 50
MOST_CHARACTERS = 12_000
"""Below the 13,000 at which Slack was seen to answer msg_blocks_too_long."""
MOST_FALLBACK = 3_000
"""chat.update takes 4,000 characters of text at most; markup may still grow a little."""


def weight(block: Block) -> int:
    """Return how much of a message a block uses up, counted as it is sent."""
    return len(json.dumps(block, ensure_ascii=False))


def split(text: str, blocks: Iterable[Block]) -> tuple[Message, ...]:
    """Return the blocks over as many messages as they need, in order."""
    pages: list[list[Block]] = [[]]
    size = 0
    for block in blocks:
        more = weight(block)
        if pages[-1] and (len(pages[-1]) == MOST_BLOCKS or size + more > MOST_CHARACTERS):
            pages.append([])
            size = 0
        pages[-1].append(block)
        size += more
    fallback = cut_mrkdwn(text, MOST_FALLBACK)
    if len(pages) == 1:
        return (Message(fallback, tuple(pages[0])),)
    return tuple(
        Message(f"{fallback} ({number} of {len(pages)})", tuple(page))
        for number, page in enumerate(pages, start=1)
    )


def single(text: str, blocks: Iterable[Block]) -> Message:
    """Return one message with the blocks that fit; what is left out is said."""
    pages = split(text, blocks)
    if len(pages) == 1:
        return pages[0]
    note: Block = {
        "type": "context",
        "elements": [{"type": "plain_text", "text": "More than Slack shows in one message."}],
    }
    return Message(cut_mrkdwn(text, MOST_FALLBACK), (*pages[0].blocks[: MOST_BLOCKS - 1], note))
