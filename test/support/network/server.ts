import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Listens on each HOST:PORT and responds with its name. `names` starts a DNS server that answers every address query
 * with 203.0.113.7.
 */
for (const argument of process.argv.slice(2)) {
  if (argument === 'names') {
    const socket = createSocket('udp4')
    socket.on('message', (question, from) => socket.send(answerTo(question), from.port, from.address))
    socket.bind(53, '0.0.0.0')
    await once(socket, 'listening')
    continue
  }
  const [host = '', port = ''] = argument.split(':')
  const server = createServer((connection) => {
    connection.on('error', () => {})
    connection.end(`${connection.localAddress}\n`)
  })
  server.listen(Number(port), host)
  await once(server, 'listening')
}
process.stdout.write('ready\n')

/** Builds a response of the question and one address record that points to its name. See RFC 1035, section 4. */
function answerTo(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isAddress = question.readUInt16BE(end - 4) === 1
  const head = Buffer.from([0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0])
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7])
  const parts = [question.subarray(0, 2), head, question.subarray(12, end), ...(isAddress ? [record] : [])]
  return Buffer.concat(parts)
}
