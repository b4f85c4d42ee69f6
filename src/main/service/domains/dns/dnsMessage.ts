import { createRequire } from 'node:module'
import type { Answer, DecodedPacket, OptAnswer, Packet } from 'dns-packet'
import { compressNames } from './compressNames.ts'
import { type Zone, zoneAnswer } from './zoneAnswer.ts'

const load = createRequire(import.meta.url)
/** Loaded with the first message, as it takes 20 ms. */
const packets = () => load('dns-packet') as typeof import('dns-packet') // which is what it resolves to

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, BADVERS: 16 } as const
type Rcode = keyof typeof rcodes

const headerBytes = 12
const opcodeMask = 0x7800
/** What every resolver takes over UDP, and the most that is sent there: larger datagrams may be lost in pieces. */
const udpBytes = { plain: 512, most: 1_232 }
/** Over UDP they make small questions into large answers; whole zones are nobody's but the owner's. */
const refusedTypes = new Set(['ANY', 'AXFR', 'IXFR'])

export type Transport = 'udp' | 'tcp'

/**
 * The answer to a message, whatever bytes it is of.
 * @returns undefined for what is answered by nothing: what is too short, or an answer itself
 */
export function answeredMessage(
  message: Buffer,
  transport: Transport,
  zoneOf: (name: string) => Zone | undefined,
): Buffer | undefined {
  if (message.length < headerBytes || (message.readUInt8(2) & 0x80) !== 0) return undefined
  const query = decoded(message)
  if (!query) return failed(message, 'FORMERR')
  const edns = query.additionals?.find((it): it is OptAnswer => it.type === 'OPT')
  const opcode = message.readUInt16BE(2) & opcodeMask
  const answer = (rcode: Rcode, packet: Packet = {}): Buffer => {
    const room = transport === 'tcp' ? 65_535 : roomOf(edns)
    return fitted({ query, opcode, edns, rcode, packet, room })
  }
  if (opcode !== 0) return answer('NOTIMP')
  if (edns && edns.ednsVersion !== 0) return answer('BADVERS')
  const [question, ...more] = query.questions ?? []
  if (!question || more.length > 0 || !/^[\x21-\x7e]*$/.test(question.name)) return failed(message, 'FORMERR')
  if (question.class !== 'IN' || refusedTypes.has(question.type)) return answer('REFUSED')
  const { rcode, authoritative, ...sections } = zoneAnswer(question, zoneOf)
  return answer(rcode, { flags: authoritative ? packets().AUTHORITATIVE_ANSWER : 0, ...sections })
}

function decoded(message: Buffer): DecodedPacket | undefined {
  try {
    return packets().decode(message)
  } catch {
    return undefined
  }
}

/** Without a question: it was not understood. */
function failed(message: Buffer, rcode: Rcode): Buffer {
  return packets().encode({ type: 'response', id: message.readUInt16BE(0), flags: rcodes[rcode] })
}

function roomOf(edns: OptAnswer | undefined): number {
  return edns ? Math.min(Math.max(edns.udpPayloadSize, udpBytes.plain), udpBytes.most) : udpBytes.plain
}

type Given = {
  query: DecodedPacket
  /** As bits of the flags. */
  opcode: number
  edns: OptAnswer | undefined
  rcode: Rcode
  packet: Packet
  room: number
}

function fitted({ query, opcode, edns, rcode, packet, room }: Given): Buffer {
  const { encode, RECURSION_DESIRED, TRUNCATED_RESPONSE } = packets()
  const code = rcodes[rcode]
  const header = {
    type: 'response' as const,
    ...(query.id !== undefined && { id: query.id }),
    flags: opcode | (packet.flags ?? 0) | (query.flag_rd ? RECURSION_DESIRED : 0) | (code & 0xf),
    questions: query.questions ?? [],
  }
  const opt: Answer[] = edns ? [optOf(code)] : []
  const { answers = [], authorities = [], additionals = [] } = packet
  const whole = compressNames(encode({ ...header, answers, authorities, additionals: [...additionals, ...opt] }))
  if (whole.length <= room) return whole
  return encode({ ...header, flags: header.flags | TRUNCATED_RESPONSE, additionals: opt })
}

function optOf(code: number): OptAnswer {
  const extendedRcode = code >> 4
  return {
    ...{ type: 'OPT', name: '.', udpPayloadSize: udpBytes.most, extendedRcode, ednsVersion: 0, flags: 0 },
    ...{ flag_do: false, options: [] },
  }
}
