import type { Snippet } from '../agents/snippets.ts'
import type { ToolClientList } from './useToolClients.ts'

/**
 * MCP hosts with their configuration. The key is read from the variable `STEWARD_TOOLS_KEY` and never part of the text.
 */
export const toolHosts = [
  { id: 'claude-code', label: 'Claude Code', clientName: 'claude-code' },
  { id: 'codex', label: 'Codex', clientName: 'codex' },
  { id: 'cursor', label: 'Cursor', clientName: 'cursor' },
  { id: 'vscode', label: 'VS Code', clientName: 'vscode' },
  { id: 'claude-desktop', label: 'Claude Desktop', clientName: 'claude-desktop' },
  { id: 'stdio', label: 'Other, stdio', clientName: 'agent' },
  { id: 'http', label: 'Other, HTTP', clientName: 'agent' },
] as const
export type ToolHost = (typeof toolHosts)[number]['id']

type HostConfig = Pick<ToolClientList, 'url' | 'command' | 'environment'>

export function buildHostSnippets(host: ToolHost, config: HostConfig): Snippet[] {
  return makers[host](config)
}

const makers: Record<ToolHost, (config: HostConfig) => Snippet[]> = {
  'claude-code': ({ url }) => [
    {
      title: 'Shell',
      language: 'shell',
      text: `claude mcp add --transport http steward ${url} \\\n  --header "Authorization: Bearer $STEWARD_TOOLS_KEY"`,
    },
  ],
  codex: ({ url }) => [
    {
      title: '~/.codex/config.toml',
      language: 'toml',
      text: `[mcp_servers.steward]\nurl = "${url}"\nbearer_token_env_var = "STEWARD_TOOLS_KEY"`,
    },
  ],
  cursor: ({ url }) => [
    {
      title: '~/.cursor/mcp.json',
      language: 'javascript',
      text: formatJson({
        mcpServers: { steward: { url, headers: { Authorization: 'Bearer ' + '$' + '{env:STEWARD_TOOLS_KEY}' } } },
      }),
    },
  ],
  vscode: ({ url }) => [
    {
      title: '.vscode/mcp.json',
      language: 'javascript',
      text: formatJson({
        inputs: [{ id: 'steward-key', type: 'promptString', description: 'Key of the tool client', password: true }],
        servers: {
          steward: { type: 'http', url, headers: { Authorization: 'Bearer ' + '$' + '{input:steward-key}' } },
        },
      }),
    },
  ],
  'claude-desktop': (config) => [
    {
      title: 'claude_desktop_config.json',
      language: 'javascript',
      text: formatJson({ mcpServers: { steward: toServerEntry(config) } }),
    },
  ],
  stdio: (config) => [
    { title: 'mcp.json', language: 'javascript', text: formatJson({ mcpServers: { steward: toServerEntry(config) } }) },
  ],
  http: ({ url }) => [
    { title: 'Address', language: 'shell', text: url },
    { title: 'Header', language: 'shell', text: 'Authorization: Bearer $STEWARD_TOOLS_KEY' },
  ],
}

function toServerEntry({ command: [command, ...args], environment }: HostConfig) {
  return { command, args, env: { ...environment, STEWARD_MCP_KEY: 'paste the key here' } }
}

function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
