import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type DecodedPacket, decode, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet'
import { expect, onTestFinished, test } from 'vitest'
import { queryDns } from './dnsClient.ts'

const question = { name: 'www.example.test', type: 'A' } as const
const ask = (port: number) => queryDns({ host: '127.0.0.1', port }, question, AbortSignal.timeout(30_000))
const reply = (query: DecodedPacket, packet: Packet): Buffer =>
  encode({ type: 'response', id: query.id ?? 0, questions: query.questions ?? [], ...packet })
const address = (data: string, name: string = question.name): Packet => ({
  answers: [{ type: 'A', name, data, ttl: 60 }],
})

/** Responds to each datagram with these messages in order. */
async function udpServer(answers: (query: DecodedPacket, message: Buffer) => Buffer[], port = 0): Promise<number> {
  const socket = createSocket('udp4')
  onTestFinished(async () => {
    socket.close()
    await once(socket, 'close')
  })
  socket.on('message', (message, from) => {
    for (const answer of answers(decode(message), message)) socket.send(answer, from.port, from.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return socket.address().port
}

async function tcpServer(onQuery: (query: DecodedPacket, socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => onQuery(decode(bytes.subarray(2)), socket))
  })
  onTestFinished(async () => {
    server.close()
    await once(server, 'close')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
const frame = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

test('accepts only a reply that matches the question', async () => {
  const port = await udpServer((query) => [
    Buffer.alloc(3),
    reply({ ...query, id: ((query.id ?? 0) + 1) % 0x1_0000 }, address('192.0.2.66')),
    reply({ ...query, questions: [{ ...question, name: 'other.test', class: 'IN' }] }, address('192.0.2.66')),
    encode({ type: 'query', id: query.id ?? 0, questions: query.questions ?? [], ...address('192.0.2.66') }),
    reply(query, address('192.0.2.1')),
  ])
  const { rcode, answers } = await ask(port)
  expect([rcode, answers]).toMatchObject(['NOERROR', [{ data: '192.0.2.1' }]])
})

test('ignores a reply with a compression loop', async () => {
  const port = await udpServer((query, message) => {
    const loop = Buffer.from([0xc0, message.length, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 66])
    const head = reply(query, {})
    head.writeUInt16BE(1, 6)
    return [Buffer.concat([head, loop]), reply(query, address('192.0.2.1'))]
  })
  expect((await ask(port)).answers).toMatchObject([{ data: '192.0.2.1' }])
})

test('repeats a truncated query over TCP', async () => {
  const port = await tcpServer((query, socket) => socket.end(frame(reply(query, address('192.0.2.7')))))
  await udpServer((query) => [reply(query, { flags: TRUNCATED_RESPONSE })], port)
  expect((await ask(port)).answers).toMatchObject([{ data: '192.0.2.7' }])
})

test('rejects a short or malformed TCP reply', async () => {
  const short = await tcpServer((_, socket) => socket.end(Buffer.from([0xff, 0xff, 1])))
  await udpServer((query) => [reply(query, { flags: TRUNCATED_RESPONSE })], short)
  await expect(ask(short)).rejects.toThrow('The server did not respond.')
  const wrong = await tcpServer((_, socket) => socket.end(frame(Buffer.alloc(40, 0xff))))
  await udpServer((query) => [reply(query, { flags: TRUNCATED_RESPONSE })], wrong)
  await expect(ask(wrong)).rejects.toThrow('The response could not be read.')
})

test('rejects a query to a closed port', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  await expect(ask(port)).rejects.toThrow('The server did not respond.')
})
