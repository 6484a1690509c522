"""Launch kits: what to paste to use this very reservation, in the words of each tool.

Pure: a reservation's receipt and a few facts about its account in, text out. Market type,
reservation id, zone, platform and subnet are the lines that people get wrong, so they are
written out here, and what is not known is a word that begins with `your-`.
"""

from bot.kits.choosing import formats_for, kit
from bot.kits.setting import Format, Kit, Setting, setting_of

__all__ = ["Format", "Kit", "Setting", "formats_for", "kit", "setting_of"]
