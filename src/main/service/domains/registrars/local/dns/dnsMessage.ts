import { createRequire } from 'node:module'
import type { Answer, DecodedPacket, OptAnswer, Packet } from 'dns-packet'
import { compressNames } from './compressNames.ts'
import { resolveZone, type ZoneLookup } from './zoneAnswer.ts'

const load = createRequire(import.meta.url)
/** Loaded with the first message, because loading takes 20 ms. */
const loadPackets = () => load('dns-packet') as typeof import('dns-packet') // the type that `load` resolves to

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const
type Rcode = keyof typeof rcodes

const headerBytes = 12
const opcodeMask = 0x7800
/** Sizes that resolvers accept over UDP; larger datagrams may be lost to fragmentation. */
const udpBytes = { plain: 512, max: 1_232 }
/** Types that amplify over UDP, and zone transfers, which are not public. */
const refusedTypes = new Set(['ANY', 'AXFR', 'IXFR'])

export type Transport = 'udp' | 'tcp'

/**
 * Returns the response to a message of arbitrary bytes.
 * @returns undefined for messages that get no response: those that are too short, and responses; SERVFAIL if the lookup
 * of a zone fails
 */
export async function answerMessage(
  message: Buffer,
  transport: Transport,
  zoneOf: ZoneLookup,
): Promise<Buffer | undefined> {
  if (message.length < headerBytes || (message.readUInt8(2) & 0x80) !== 0) return undefined
  const query = decodeMessage(message)
  if (!query) return createError(message, 'FORMERR')
  const edns = query.additionals?.find((it): it is OptAnswer => it.type === 'OPT')
  const opcode = message.readUInt16BE(2) & opcodeMask
  const answer = (rcode: Rcode, packet: Packet = {}): Buffer => {
    const maxBytes = transport === 'tcp' ? 65_535 : getMaxUdpBytes(edns)
    return fitMessage({ query, opcode, edns, rcode, packet, maxBytes })
  }
  if (opcode !== 0) return answer('NOTIMP')
  if (edns && edns.ednsVersion !== 0) return answer('BADVERS')
  const [question, ...more] = query.questions ?? []
  if (!question || more.length > 0 || !/^[\x21-\x7e]*$/.test(question.name)) return createError(message, 'FORMERR')
  if (question.class !== 'IN' || refusedTypes.has(question.type)) return answer('REFUSED')
  const resolved = await resolveZone(question, zoneOf).catch(() => undefined)
  if (!resolved) return answer('SERVFAIL')
  const { rcode, authoritative, ...sections } = resolved
  return answer(rcode, { flags: authoritative ? loadPackets().AUTHORITATIVE_ANSWER : 0, ...sections })
}

function decodeMessage(message: Buffer): DecodedPacket | undefined {
  try {
    return loadPackets().decode(message)
  } catch {
    return undefined
  }
}

/** Builds an error without a question section, because the query could not be parsed. */
function createError(message: Buffer, rcode: Rcode): Buffer {
  return loadPackets().encode({ type: 'response', id: message.readUInt16BE(0), flags: rcodes[rcode] })
}

function getMaxUdpBytes(edns: OptAnswer | undefined): number {
  return edns ? Math.min(Math.max(edns.udpPayloadSize, udpBytes.plain), udpBytes.max) : udpBytes.plain
}

type FitOptions = {
  query: DecodedPacket
  /** As bits of the flags field. */
  opcode: number
  edns: OptAnswer | undefined
  rcode: Rcode
  packet: Packet
  maxBytes: number
}

function fitMessage({ query, opcode, edns, rcode, packet, maxBytes }: FitOptions): Buffer {
  const { encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } = loadPackets()
  const code = rcodes[rcode]
  const header = {
    type: 'response' as const,
    ...(query.id !== undefined && { id: query.id }),
    flags: opcode | (packet.flags ?? 0) | (query.flag_rd ? RECURSION_DESIRED : 0) | (code & 0xf),
    questions: query.questions ?? [],
  }
  const opt: Answer[] = edns ? [createOpt(code)] : []
  const { answers = [], authorities = [], additionals = [] } = packet
  const whole = compressNames(encode({ ...header, answers, authorities, additionals: [...additionals, ...opt] }))
  if (whole.length <= maxBytes) return whole
  return encode({ ...header, flags: header.flags | TRUNCATED_RESPONSE, additionals: opt })
}

function createOpt(code: number): OptAnswer {
  const extendedRcode = code >> 4
  return {
    ...{ type: 'OPT', name: '.', udpPayloadSize: udpBytes.max, extendedRcode, ednsVersion: 0, flags: 0 },
    ...{ flag_do: false, options: [] },
  }
}
