import { duplexPair } from 'node:stream'
import { expect, test } from 'vitest'
import { readSandboxFile } from '../inside/sandboxFiles.ts'
import { createAgentConnection } from './agentConnection.ts'
import { createAgentTransport } from './agentTransport.ts'

test('an unresponsive agent does not delay a call past the deadline', async () => {
  const [host, container] = duplexPair()
  container.resume()
  const agent = createAgentConnection(host)
  const deadline = new AbortController()
  const reading = readSandboxFile(createAgentTransport(agent), {
    path: '/etc/hostname',
    maxBytes: 1,
    signal: deadline.signal,
  })
  deadline.abort(new Error('It took too long.'))
  await expect(reading).rejects.toThrow('It took too long.')
  agent.destroy('')
  container.destroy()
})
