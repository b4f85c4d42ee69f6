import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { type Answer, type DecodedPacket, decode, encode, type OptAnswer, RECURSION_DESIRED } from 'dns-packet'
import type { ListenAddress } from '#platform/listenAddress.ts'
import type { DnsRecordType } from '#shared/dns/dnsRecord.ts'

export type DnsQuestion = { name: string; type: DnsRecordType }
export type DnsReply = {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'refused'
  /** DNS name of the error: `SERVFAIL`. */
  reason: string
  answers: readonly Answer[]
}

/** Every byte of an answer is a stranger's. `message` is one sentence for the person. */
export class DnsFault extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'DnsFault'
  }
}

/** One datagram may be lost: it is sent once more. */
const triesMs = [1_500, 3_000] as const
const tcpMs = 4_000
/** The most that is taken over UDP; larger answers come over TCP. */
const udpBytes = 1_232
const headerBytes = 12

/**
 * Asks one server one question: over UDP, and over TCP where the answer is cut off.
 * @throws DnsFault; the signal's reason when it was given up
 */
export async function queryDns(server: ListenAddress, question: DnsQuestion, signal: AbortSignal): Promise<DnsReply> {
  const encoded = encodeQuestion(question)
  let packet = await queryOverUdp(server, encoded, signal)
  if (packet.flag_tc) packet = await queryOverTcp(server, encoded, signal)
  const { rcode } = packet as DecodedPacket & { rcode?: string } // typed as absent, always there
  return {
    rcode: rcode === 'NOERROR' || rcode === 'NXDOMAIN' ? rcode : 'refused',
    reason: rcode ?? 'an error',
    answers: packet.answers ?? [],
  }
}

type EncodedQuestion = { id: number; question: DnsQuestion; message: Buffer }

function encodeQuestion(question: DnsQuestion): EncodedQuestion {
  const id = randomInt(0x1_0000)
  const opt: OptAnswer = {
    ...{ type: 'OPT', name: '.', udpPayloadSize: udpBytes, extendedRcode: 0, ednsVersion: 0 },
    ...{ flags: 0, flag_do: false, options: [] },
  }
  const message = encode({
    ...{ type: 'query', id, flags: RECURSION_DESIRED },
    ...{ questions: [{ ...question, class: 'IN' }], additionals: [opt] },
  })
  return { id, question, message }
}

/** Anybody can send a datagram: what does not answer this very question is as if it had not come. */
function decodeMatching(bytes: Buffer, { id, question }: EncodedQuestion): DecodedPacket | undefined {
  if (bytes.length < headerBytes || bytes.readUInt16BE(0) !== id) return undefined
  try {
    const packet = decode(bytes)
    const [echo, ...more] = packet.questions ?? []
    const isSame = echo?.name.toLowerCase() === question.name.toLowerCase() && echo.type === question.type
    return packet.type === 'response' && isSame && more.length === 0 ? packet : undefined
  } catch {
    return undefined
  }
}

async function queryOverUdp(
  server: ListenAddress,
  encoded: EncodedQuestion,
  signal: AbortSignal,
): Promise<DecodedPacket> {
  const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPacket>()
  const giveUp = () => reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', giveUp)
  const timers: NodeJS.Timeout[] = []
  const send = () => socket.send(encoded.message, (error) => error && reject(createNoAnswerError(error)))
  socket.on('error', (error) => reject(createNoAnswerError(error)))
  socket.on('message', (bytes) => {
    const packet = decodeMatching(bytes, encoded)
    if (packet) resolve(packet)
  })
  // Connected, the system takes datagrams from this very address alone.
  socket.connect(server.port, server.host, (error?: unknown) => {
    if (error !== undefined) reject(createNoAnswerError(error))
    else send()
  })
  timers.push(
    setTimeout(send, triesMs[0]),
    setTimeout(() => reject(createNoAnswerError()), triesMs[0] + triesMs[1]),
  )
  try {
    return await promise
  } finally {
    for (const timer of timers) clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    socket.close()
  }
}

async function queryOverTcp(
  server: ListenAddress,
  encoded: EncodedQuestion,
  signal: AbortSignal,
): Promise<DecodedPacket> {
  const socket = connect({ host: server.host, port: server.port })
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPacket>()
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(tcpMs)])
  const giveUp = () => reject(signal.aborted ? signal.reason : createNoAnswerError())
  deadline.addEventListener('abort', giveUp)
  let received = Buffer.alloc(0)
  socket.on('error', (error) => reject(createNoAnswerError(error)))
  socket.on('close', () => reject(createNoAnswerError()))
  socket.on('connect', () => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(encoded.message.length)
    socket.write(Buffer.concat([length, encoded.message]))
  })
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes])
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
    const packet = decodeMatching(received.subarray(2, 2 + received.readUInt16BE(0)), encoded)
    if (packet) resolve(packet)
    else reject(new DnsFault('Its answer could not be read.'))
  })
  try {
    return await promise
  } finally {
    deadline.removeEventListener('abort', giveUp)
    socket.destroy()
  }
}

function createNoAnswerError(cause?: unknown): DnsFault {
  return new DnsFault('It did not answer.', { cause })
}
