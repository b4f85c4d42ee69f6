import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { until } from '../assertions/eventually.ts'
import { projectFolder } from '../fixtures/testProject.ts'

/** Third-party MCP servers. */
const packages = join(projectFolder, 'node_modules', '@modelcontextprotocol')

/** Bundles `server-filesystem` into one file, for sandboxes with Node.js and without a network. */
export async function filesystemServer(): Promise<string> {
  const bundle = await rolldown({
    input: join(packages, 'server-filesystem', 'dist', 'index.js'),
    platform: 'node',
    logLevel: 'silent',
  })
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
    return output[0].code
  } finally {
    await bundle.close()
  }
}

/** Starts `server-everything` over Streamable HTTP in a separate process. */
export async function everythingServer(): Promise<{ url: string; close(): Promise<void> }> {
  const port = await freePort()
  const script = join(packages, 'server-everything', 'dist', 'index.js')
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: 'ignore',
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = `http://127.0.0.1:${port}/mcp`
  await until('the server answers', () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  return {
    url,
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
