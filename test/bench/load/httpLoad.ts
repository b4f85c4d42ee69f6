import { connect, type Socket } from 'node:net'
import type { Samples } from '../figures.ts'

/** Request to repeat, serialized in advance to reduce the client's cost. */
export type LoadTarget = { port: number; path: string; headers: Readonly<Record<string, string>>; body: object }

export type Loaded = {
  perSecond: number
  /** Time until each response was complete, in milliseconds. */
  whole: Samples
  /** Time until the first event of each response, or the first byte for JSON, in milliseconds. */
  begun: Samples
}

/** Runs clients that each send the next request after receiving a response. @throws Error for any status except 200 */
export async function runLoad(
  target: LoadTarget,
  { clients, count }: { clients: number; count: number },
): Promise<Loaded> {
  const bytes = requestBytes(target)
  const whole: number[] = []
  const begun: number[] = []
  let remaining = count
  const client = async (): Promise<void> => {
    const connection = await connected(target.port)
    try {
      while (remaining > 0) {
        remaining -= 1
        const { beginMs, wholeMs } = await connection.exchange(bytes)
        begun.push(beginMs)
        whole.push(wholeMs)
      }
    } finally {
      connection.close()
    }
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: clients }, client))
  return { perSecond: count / ((performance.now() - start) / 1000), whole, begun }
}

function requestBytes({ port, path, headers, body }: LoadTarget): Buffer {
  const text = JSON.stringify(body)
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`)
}

type Exchanged = { beginMs: number; wholeMs: number }

async function connected(port: number) {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return {
    close: () => socket.destroy(),
    exchange: (bytes: Buffer): Promise<Exchanged> =>
      new Promise((resolve, reject) => {
        const start = performance.now()
        let beginMs = 0
        const answer = answerReader()
        const done = (tell: () => void): void => {
          socket.off('data', take).off('close', closed)
          tell()
        }
        const closed = (): void =>
          done(() => reject(new Error('The connection was closed in the middle of an answer.')))
        const take = (piece: Buffer): void => {
          const { isBegun, isWhole, error } = answer.take(piece)
          if (error !== undefined) done(() => reject(new Error(error)))
          if (isBegun && beginMs === 0) beginMs = performance.now() - start
          if (isWhole) done(() => resolve({ beginMs, wholeMs: performance.now() - start }))
        }
        socket.on('data', take).once('close', closed)
        socket.write(bytes)
      }),
  }
}

/** Creates a reader that parses just enough HTTP/1.1 to find the end of a response. */
function answerReader() {
  let head: Buffer | undefined = Buffer.alloc(0)
  let missing = 0
  let isChunked = false
  let tail = ''
  let isBegun = false
  return {
    take(piece: Buffer): { isBegun: boolean; isWhole: boolean; error?: string } {
      let body = piece
      if (head) {
        head = Buffer.concat([head, piece])
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return { isBegun, isWhole: false }
        const text = head.subarray(0, end).toString('latin1')
        if (!text.startsWith('HTTP/1.1 200')) return { isBegun, isWhole: false, error: head.toString('utf8') }
        isChunked = /^transfer-encoding: *chunked/im.test(text)
        missing = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0)
        body = head.subarray(end + 4)
        head = undefined
      }
      if (body.length > 0) isBegun ||= !isChunked || body.includes('data: ')
      if (!isChunked) {
        missing -= body.length
        return { isBegun, isWhole: missing <= 0 }
      }
      tail = (tail + body.subarray(-8).toString('latin1')).slice(-7)
      return { isBegun, isWhole: tail === '\r\n0\r\n\r\n' }
    },
  }
}
