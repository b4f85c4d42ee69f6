import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** `conway-terminal` as its users run it: an independent program, pointed at a service by its own variables. */
export type ConwayTerminal = {
  /** `conway-terminal --provision` */
  provision(): Promise<{ apiKey: string; walletAddress: string; keyPrefix: string }>
  /** Starts it as a tool server on its stdin and stdout, as tool clients do. */
  connect(): Promise<ConwayTools>
}

export type ConwayTools = {
  names: readonly string[]
  /** Asks it for its tools again, as they stand in its answer. */
  list(): Promise<readonly object[]>
  /** @returns the text of the answer. Rejects when the tool says that it failed. */
  call(name: string, input?: Record<string, unknown>): Promise<string>
  close(): Promise<void>
}

/** The part of the kit's client that is used here; the kit comes with the package. */
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
 * @param given `home` holds its wallet and its key, in the place of the person's own folder; `key`: one of the service, in
 *   the place of that of `--provision`
 */
export function createConwayTerminal({ home, serviceUrl, key }: ClientOptions): ConwayTerminal {
  const program = createRequire(import.meta.url).resolve('conway-terminal/dist/index.js')
  const kit = createRequire(program)
  const load = (name: string): Promise<unknown> =>
    import(pathToFileURL(kit.resolve(`@modelcontextprotocol/sdk/client/${name}`)).href)
  // All addresses are overridden, so that nothing reaches beyond this machine.
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
