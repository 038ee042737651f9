/**
 * A real GGUF file of a llama that says what a test wants: no attention, one-hot embeddings, and an output matrix that is a
 * table from each token to the next one. A few hundred tokens, under a megabyte.
 */
import { writeFileSync } from "node:fs";

/** Pieces that get a token of their own, beside the single bytes. */
interface TinyModel {
  readonly words: readonly string[];
  /** After the first, the second: pieces from `words`, single characters, or `<s>` and `</s>`. */
  readonly follows: readonly (readonly [after: string, next: string])[];
}

const CHATML =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"];
const ALIGNMENT = 32;
const CONTEXT_LENGTH = 16_384;
const KIND = { unsigned: 4, float: 6, flag: 7, text: 8, list: 9, integer: 5 } as const;

export function writeTinyGguf(file: string, model: TinyModel): void {
  const { words, follows } = model;
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
  );
  const pieces = [...SPECIAL, ...bytes, ...words];
  const size = Math.ceil(pieces.length / ALIGNMENT) * ALIGNMENT;
  const tokens = [
    ...pieces,
    ...Array.from({ length: size - pieces.length }, (_, index) => `<unused-${index}>`),
  ];
  const idOf = (text: string): number => {
    const known = pieces.indexOf(text);
    return known >= 0 ? known : SPECIAL.length + (Buffer.from(text)[0] ?? 0);
  };
  const embedding = new Float32Array(size * size);
  const output = new Float32Array(size * size);
  for (let token = 0; token < size; token += 1) embedding[token * size + token] = 1;
  for (const [after, next] of follows) output[idOf(next) * size + idOf(after)] = 1;
  const ones = new Float32Array(size).fill(1);
  const zeros = (count: number): Float32Array => new Float32Array(count);
  const tensors: readonly Tensor[] = [
    { name: "token_embd.weight", shape: [size, size], data: embedding },
    { name: "output_norm.weight", shape: [size], data: ones },
    { name: "output.weight", shape: [size, size], data: output },
    { name: "blk.0.attn_norm.weight", shape: [size], data: ones },
    { name: "blk.0.ffn_norm.weight", shape: [size], data: ones },
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => ({
      name: `blk.0.${name}.weight`,
      shape: [size, size],
      data: zeros(size * size),
    })),
    ...["ffn_gate", "ffn_up"].map((name) => ({
      name: `blk.0.${name}.weight`,
      shape: [size, ALIGNMENT],
      data: zeros(size * ALIGNMENT),
    })),
    { name: "blk.0.ffn_down.weight", shape: [ALIGNMENT, size], data: zeros(size * ALIGNMENT) },
  ];
  const types = tokens.map((token, index) => {
    if (index === 0) return 2;
    if (index < SPECIAL.length || token.startsWith("<unused-")) return 3;
    return index < SPECIAL.length + 256 ? 6 : 4; // Found in a text as they are.
  });
  const scores = tokens.map((_, index) => (types[index] === 4 ? -index / 1000 : 0));
  const facts: readonly Buffer[] = [
    fact("general.architecture", KIND.text, text("llama")),
    fact("general.name", KIND.text, text("tiny")),
    fact("llama.context_length", KIND.unsigned, number(CONTEXT_LENGTH)),
    fact("llama.embedding_length", KIND.unsigned, number(size)),
    fact("llama.block_count", KIND.unsigned, number(1)),
    fact("llama.feed_forward_length", KIND.unsigned, number(ALIGNMENT)),
    fact("llama.attention.head_count", KIND.unsigned, number(size / ALIGNMENT)),
    fact("llama.attention.head_count_kv", KIND.unsigned, number(size / ALIGNMENT)),
    fact("llama.rope.dimension_count", KIND.unsigned, number(ALIGNMENT)),
    fact("llama.attention.layer_norm_rms_epsilon", KIND.float, float(1e-5)),
    fact("tokenizer.ggml.model", KIND.text, text("llama")),
    fact("tokenizer.ggml.tokens", KIND.list, list(KIND.text, tokens.map(text))),
    fact("tokenizer.ggml.scores", KIND.list, list(KIND.float, scores.map(float))),
    fact("tokenizer.ggml.token_type", KIND.list, list(KIND.integer, types.map(number))),
    fact("tokenizer.ggml.bos_token_id", KIND.unsigned, number(1)),
    fact("tokenizer.ggml.eos_token_id", KIND.unsigned, number(SPECIAL.indexOf("<|im_end|>"))),
    fact("tokenizer.ggml.add_bos_token", KIND.flag, Buffer.from([0])),
    fact("tokenizer.ggml.add_space_prefix", KIND.flag, Buffer.from([0])),
    fact("tokenizer.chat_template", KIND.text, text(CHATML)),
  ];
  let offset = 0;
  const described = tensors.map(({ name, shape, data }) => {
    const at = offset;
    offset += data.byteLength;
    return Buffer.concat([text(name), number(shape.length), ...shape.map(long), number(0), long(at)]);
  });
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    number(3),
    long(tensors.length),
    long(facts.length),
    ...facts,
    ...described,
  ]);
  const padding = Buffer.alloc((ALIGNMENT - (head.length % ALIGNMENT)) % ALIGNMENT);
  writeFileSync(
    file,
    Buffer.concat([head, padding, ...tensors.map(({ data }) => new Uint8Array(data.buffer))]),
  );
}

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

function number(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function long(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(value));
  return buffer;
}

function float(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([long(bytes.length), bytes]);
}

function list(kind: number, values: readonly Buffer[]): Buffer {
  return Buffer.concat([number(kind), long(values.length), ...values]);
}

function fact(key: string, kind: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), number(kind), value]);
}
