/** English words that say nothing about a subject. They are neither kept nor asked for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the and or but if then else nor so than too very of to in on at by for from with without into onto over under
  as is are was were be been being am do does did doing have has had having can could should would will shall may
  might must i me my we us our you your he she it its they them their his her this that these those any all some each
  which who whom whose what when where why how there here about up down out off again only own same such more most
  other not no just also s t d ll re ve m don`.split(/\s+/),
);
