import { z } from 'zod'
import { readLines, type Spawner } from './spawner.ts'
import type { LaunchRequest } from './startRequest.ts'

const SpawnerReply = z.union([z.object({ status: z.int(), said: z.string() }), z.object({ failed: z.string() })])
const tryTimeoutMs = 20_000

/**
 * Runs a command in place of bwrap, under the conditions of a sandbox, to probe the support of this computer.
 * @throws Error with the output if the command fails
 */
export async function tryLaunch(spawner: Spawner, launch: LaunchRequest): Promise<void> {
  const socket = await spawner.ask({ do: 'try', ...launch })
  const outcome = Promise.withResolvers<z.infer<typeof SpawnerReply>>()
  readLines(socket, (line) => outcome.resolve(SpawnerReply.parse(line)))
  socket.once('close', () => outcome.resolve({ failed: 'the test did not finish in time' }))
  const late = setTimeout(() => socket.destroy(), tryTimeoutMs)
  try {
    const result = await outcome.promise
    if ('failed' in result) throw new Error(result.failed.trim())
    if (result.status !== 0) throw new Error(result.said.trim() || `the test exited with status ${result.status}`)
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}
