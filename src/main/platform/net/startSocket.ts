import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { parseJson } from '../parsing/boundedJson.ts'
import { claimSocket, listenPrivately, releaseSocket, toSocketPath } from './privateSocket.ts'

/**
 * Socket in the data folder from which a second start requests a new URL of the running Steward. Not available on
 * Windows, where any user can claim the name of a pipe.
 */
export type StartSocket = { close(): Promise<void> }

const StartAnswer = z.object({ url: z.url() })
const maxAnswerBytes = 4096
const timeoutMs = 5000

const getSocketPath = (dataFolder: string): string => toSocketPath(join(dataFolder, 'app', 'start.sock'))

/** @param freshUrl creates a URL that opens one session */
export async function openStartSocket(dataFolder: string, freshUrl: () => string): Promise<StartSocket | undefined> {
  if (process.platform === 'win32') return undefined
  const path = getSocketPath(dataFolder)
  await claimSocket(path, `Another Steward is listening at ${path}.`)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout(timeoutMs, () => socket.destroy())
    socket.end(JSON.stringify({ url: freshUrl() } satisfies z.infer<typeof StartAnswer>))
  })
  await listenPrivately(server, path)
  return {
    async close() {
      await new Promise<void>((resolve) => void server.close(() => resolve()))
      await releaseSocket(path)
    },
  }
}

/** @returns a new URL of the Steward that runs on this folder, or undefined if none responds */
export function requestFreshUrl(dataFolder: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (process.platform === 'win32') return resolve(undefined)
    const socket = createConnection(getSocketPath(dataFolder))
    let text = ''
    const end = () => {
      socket.destroy()
      try {
        resolve(StartAnswer.parse(parseJson(text)).url)
      } catch {
        resolve(undefined)
      }
    }
    socket.setEncoding('utf8').setTimeout(timeoutMs, end)
    socket.on('data', (part: string) => {
      text += part
      if (text.length > maxAnswerBytes) end()
    })
    socket.once('error', end).once('end', end)
  })
}
