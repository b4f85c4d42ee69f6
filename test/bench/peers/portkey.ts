import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { until } from '../../support/assertions/eventually.ts'
import type { LoadTarget } from '../load/httpLoad.ts'

/** Starts Portkey's gateway from its package as a process, without accounts or a ledger. */
export async function portkey(
  providerPort: number,
): Promise<{ target: Omit<LoadTarget, 'body'>; pid: number; close(): Promise<void> }> {
  const port = await freePort()
  const program = createRequire(import.meta.url).resolve('@portkey-ai/gateway/build/start-server.js')
  const child = spawn(process.execPath, [program, '--headless', `--port=${port}`], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: 'ignore',
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await until('Portkey to listen', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => child.exitCode !== null,
    ),
  )
  if (child.exitCode !== null) throw new Error(`Portkey ended with ${child.exitCode}.`)
  const headers = {
    authorization: 'Bearer none',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${providerPort}/v1`,
  }
  return {
    target: { port, path: '/v1/chat/completions', headers },
    pid: child.pid ?? 0,
    async close() {
      child.kill()
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo // the server listens on TCP
  await new Promise((resolve) => server.close(resolve))
  return port
}
