import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/**
 * The `conway-terminal` package, run as its users run it. An independent program that environment variables point at a
 * service.
 */
export type ConwayTerminal = {
  /** Runs `conway-terminal --provision`. */
  provision(): Promise<{ apiKey: string; walletAddress: string; keyPrefix: string }>
  /** Starts a tool server on stdin and stdout, as tool clients do. */
  connect(): Promise<ConwayTools>
}

export type ConwayTools = {
  names: readonly string[]
  /** Lists the tools again, verbatim from the response. */
  list(): Promise<readonly object[]>
  /** @returns the text of the result. Rejects if the tool reports an error */
  call(name: string, input?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

/** Subset of the MCP SDK client used here. The SDK is a dependency of the package. */
type ToolClient = {
  connect(transport: unknown): Promise<void>
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<{
    content: { type: string; text: string }[]
    isError?: boolean
  }>
  close(): Promise<void>
}
type ClientModule = { Client: new (about: { name: string; version: string }) => ToolClient }
type StdioModule = {
  StdioClientTransport: new (start: {
    command: string
    args: readonly string[]
    env: Record<string, string>
    stderr: 'ignore'
  }) => unknown
}

type ClientOptions = { home: string; serviceUrl: string; key?: string }

/**
 * @param options `home` replaces the user's home folder for the wallet and key. `key` is a key of the service that
 * replaces the one from `--provision`
 */
export function createConwayTerminal({ home, serviceUrl, key }: ClientOptions): ConwayTerminal {
  const program = createRequire(import.meta.url).resolve('conway-terminal/dist/index.js')
  const kit = createRequire(program)
  const load = (name: string): Promise<unknown> =>
    import(pathToFileURL(kit.resolve(`@modelcontextprotocol/sdk/client/${name}`)).href)
  // Overrides all URLs, so that no request leaves this computer.
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    CONWAY_API_URL: serviceUrl,
    CONWAY_DOMAIN_API_URL: serviceUrl,
    CONWAY_PREVIEW_DOMAIN: 'localhost',
    ...(key !== undefined && { CONWAY_API_KEY: key }),
  }
  return {
    async provision() {
      const { stdout } = await promisify(execFile)(process.execPath, [program, '--provision'], { env })
      return JSON.parse(stdout)
    },
    async connect() {
      const { Client } = (await load('index.js')) as ClientModule
      const { StdioClientTransport } = (await load('stdio.js')) as StdioModule
      const client = new Client({ name: 'steward-test', version: '0.0.0' })
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }),
      )
      const { tools } = await client.listTools()
      return {
        names: tools.map(({ name }) => name),
        list: async () => (await client.listTools()).tools,
        async call(name, input = {}) {
          const { content, isError } = await client.callTool({ name, arguments: input })
          const text = content.map((it) => it.text).join('\n')
          if (isError) throw new Error(text)
          return text
        },
        close: () => client.close(),
      }
    },
  }
}
