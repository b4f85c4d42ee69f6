/**
 * Model of the Llama architecture with two layers and random weights, as a GGUF file of half a megabyte for llama.cpp
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Its output is meaningless, deterministic for the same
 * input, and consists of ASCII letters.
 */
const wide = 64
const layers = 2
const heads = 4
const inner = 128

/** Context window of the model, in tokens. */
export const tinyContext = 1024

const begin = 1
const end = 2
const control = ['<unk>', '<s>', '</s>']
const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
/** Replacement of a space in SentencePiece. */
const space = '▁'
const tokens = [...control, ...bytes, space]
const kinds = { normal: 1, unknown: 2, control: 3, byte: 6 }

export function tinyModel(): Buffer {
  const tensors = createTensors(randomNumbers(7))
  const metadata = createMetadata()
  const head = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(metadata.length), ...metadata]
  const data: Buffer[] = []
  let offset = 0
  for (const { name, shape, values } of tensors) {
    head.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(0), uint64(offset))
    const buffer = align(Buffer.from(values.buffer))
    data.push(buffer)
    offset += buffer.length
  }
  return Buffer.concat([align(Buffer.concat(head)), ...data])
}

function createMetadata(): Buffer[] {
  const getKind = (id: number): number => {
    if (id === 0) return kinds.unknown
    if (id < control.length) return kinds.control
    return id < control.length + bytes.length ? kinds.byte : kinds.normal
  }
  const word = (key: string, value: string) => entry(key, 8, text(value))
  const count = (key: string, value: number) => entry(key, 4, uint32(value))
  return [
    word('general.architecture', 'llama'),
    word('general.name', 'tiny'),
    count('llama.context_length', tinyContext),
    count('llama.embedding_length', wide),
    count('llama.block_count', layers),
    count('llama.feed_forward_length', inner),
    count('llama.attention.head_count', heads),
    count('llama.attention.head_count_kv', heads),
    count('llama.rope.dimension_count', wide / heads),
    entry('llama.attention.layer_norm_rms_epsilon', 6, float32(1e-5)),
    word('tokenizer.ggml.model', 'llama'),
    list('tokenizer.ggml.tokens', 8, tokens.map(text)),
    list(
      'tokenizer.ggml.scores',
      6,
      tokens.map(() => float32(0)),
    ),
    list(
      'tokenizer.ggml.token_type',
      5,
      tokens.map((_, id) => uint32(getKind(id))),
    ),
    count('tokenizer.ggml.unknown_token_id', 0),
    count('tokenizer.ggml.bos_token_id', begin),
    count('tokenizer.ggml.eos_token_id', end),
  ]
}

type Tensor = { name: string; shape: number[]; values: Float32Array }

function createTensors(random: () => number): Tensor[] {
  const matrix = (name: string, ...shape: [number, number]): Tensor => {
    const values = Float32Array.from({ length: shape[0] * shape[1] }, () => (random() - 0.5) / 2)
    return { name: `${name}.weight`, shape, values }
  }
  const ones = (name: string): Tensor => ({
    name: `${name}.weight`,
    shape: [wide],
    values: new Float32Array(wide).fill(1),
  })
  const output = matrix('output', wide, tokens.length)
  // Makes ASCII letters the only likely tokens.
  const isLetter = (id: number) => id >= control.length + 0x20 && id < control.length + 0x7f
  output.values = output.values.map((value, index) => (isLetter(Math.floor(index / wide)) ? value : 0))
  const layer = (block: string): Tensor[] => [
    ones(`${block}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) => matrix(`${block}.${part}`, wide, wide)),
    ones(`${block}.ffn_norm`),
    matrix(`${block}.ffn_gate`, wide, inner),
    matrix(`${block}.ffn_up`, wide, inner),
    matrix(`${block}.ffn_down`, inner, wide),
  ]
  return [
    matrix('token_embd', wide, tokens.length),
    ...Array.from({ length: layers }, (_, index) => layer(`blk.${index}`)).flat(),
    ones('output_norm'),
    output,
  ]
}

/** @param type value type of the format: 4 unsigned, 5 signed, 6 floating point, 8 string, 9 array */
function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), uint32(type), value])
}

function list(key: string, type: number, values: readonly Buffer[]): Buffer {
  return entry(key, 9, Buffer.concat([uint32(type), uint64(values.length), ...values]))
}

function text(value: string): Buffer {
  return Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)])
}

function uint32(value: number): Buffer {
  return Buffer.from(Uint32Array.of(value).buffer)
}

function uint64(value: number): Buffer {
  return Buffer.from(BigUint64Array.of(BigInt(value)).buffer)
}

function float32(value: number): Buffer {
  return Buffer.from(Float32Array.of(value).buffer)
}

function align(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((32 - (bytes.length % 32)) % 32)])
}

/** Returns a deterministic generator of numbers below 1. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
