import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { type Answer, type DecodedPacket, decode, encode, type OptAnswer, RECURSION_DESIRED } from 'dns-packet'
import type { ListenAddress } from '#platform/net/listenAddress.ts'
import type { DnsRecordType } from '#shared/dns/dnsRecord.ts'

export type DnsQuestion = { name: string; type: DnsRecordType }
export type DnsReply = {
  rcode: 'NOERROR' | 'NXDOMAIN' | 'refused'
  /** DNS name of the error, such as `SERVFAIL`. */
  reason: string
  answers: readonly Answer[]
}

/** Error of a DNS query. All bytes of a response are untrusted. `message` is one sentence for the user. */
export class DnsError extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'DnsFault'
  }
}

/** Timeouts of the two attempts over UDP, because a datagram may be lost. */
const attemptTimeoutsMs = [1_500, 3_000] as const
const tcpTimeoutMs = 4_000
/** Maximum size of a UDP response. Larger responses are requested over TCP. */
const maxUdpBytes = 1_232
const headerBytes = 12

/**
 * Queries one server over UDP, or over TCP if the response was truncated.
 * @throws DnsFault, or the signal's reason if aborted
 */
export async function queryDns(server: ListenAddress, question: DnsQuestion, signal: AbortSignal): Promise<DnsReply> {
  const encoded = encodeQuestion(question)
  let packet = await queryOverUdp(server, encoded, signal)
  if (packet.flag_tc) packet = await queryOverTcp(server, encoded, signal)
  const { rcode } = packet as DecodedPacket & { rcode?: string } // typed as optional, always present
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
    ...{ type: 'OPT', name: '.', udpPayloadSize: maxUdpBytes, extendedRcode: 0, ednsVersion: 0 },
    ...{ flags: 0, flag_do: false, options: [] },
  }
  const message = encode({
    ...{ type: 'query', id, flags: RECURSION_DESIRED },
    ...{ questions: [{ ...question, class: 'IN' }], additionals: [opt] },
  })
  return { id, question, message }
}

/** Returns undefined for a datagram that does not match the query, because anyone can send one. */
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
  // On a connected socket, the system drops datagrams from other addresses.
  socket.connect(server.port, server.host, (error?: unknown) => {
    if (error !== undefined) reject(createNoAnswerError(error))
    else send()
  })
  timers.push(
    setTimeout(send, attemptTimeoutsMs[0]),
    setTimeout(() => reject(createNoAnswerError()), attemptTimeoutsMs[0] + attemptTimeoutsMs[1]),
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
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(tcpTimeoutMs)])
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
    else reject(new DnsError('The response could not be read.'))
  })
  try {
    return await promise
  } finally {
    deadline.removeEventListener('abort', giveUp)
    socket.destroy()
  }
}

function createNoAnswerError(cause?: unknown): DnsError {
  return new DnsError('The server did not respond.', { cause })
}
