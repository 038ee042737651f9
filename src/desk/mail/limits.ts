/** How much of a message is read and shown. Whoever sends mail may send anything. */

/** Of a message's file. What follows is not looked at. */
export const MAX_MESSAGE_BYTES = 5_000_000;
export const MAX_HEADER_BYTES = 128_000;
export const MAX_HEADER_FIELDS = 500;
/** Multiparts within multiparts. */
export const MAX_DEPTH = 8;
export const MAX_PARTS = 200;
/** Of the text that `read_message` answers with. */
export const MAX_TEXT_CHARACTERS = 50_000;
export const MAX_LINE_CHARACTERS = 500;
export const MAX_ADDRESSES = 50;
export const MAX_ATTACHMENTS = 50;
/** Messages that one search looks into, newest first. */
export const MAX_SEARCHED = 5_000;
