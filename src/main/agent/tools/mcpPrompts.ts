import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import type { ToolProfile } from '#shared/contract/toolClients.ts'
import { findBuiltInTool, mayUse } from '#shared/contract/tools/toolTable.ts'

type Prompt = {
  name: string
  description: string
  argument: { name: string; description: string }
  /** Required tools. The prompt is listed only for callers that may use all of them. */
  tools: readonly string[]
  text: (value: string) => string
}

const prompts: readonly Prompt[] = [
  {
    name: 'run_in_sandbox',
    description: 'Do a task in a new sandbox and show the result',
    argument: { name: 'task', description: 'What to do' },
    tools: ['sandbox_create', 'sandbox_exec'],
    text: (task) =>
      `Create a sandbox with sandbox_create and do this in it: ${task}\nRun commands with sandbox_exec; for interactive or long-running programs use sandbox_pty_create. If it serves a page, expose its port. Finish with a summary of what you did and how to see it.`,
  },
  {
    name: 'find_domain',
    description: 'Find a free domain name and say what it costs',
    argument: { name: 'idea', description: 'What the name is for' },
    tools: ['domain_search', 'domain_check'],
    text: (idea) =>
      `Propose ten short domain names for: ${idea}\nCheck them with domain_search and domain_check, and list the free ones with their prices for the first year and for renewals. Register none.`,
  },
]

/** Adds prompts for tasks that take several tools. */
export function addPrompts(server: Server, profile: ToolProfile): void {
  const offered = prompts.filter(({ tools }) =>
    tools.every((name) => {
      const tool = findBuiltInTool(name)
      return tool !== undefined && mayUse(profile, tool)
    }),
  )
  server.setRequestHandler('prompts/list', () => ({
    prompts: offered.map(({ name, description, argument }) => ({
      name,
      description,
      arguments: [{ ...argument, required: true }],
    })),
  }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: parameters } }) => {
    const prompt = offered.find((it) => it.name === name)
    const value = prompt && parameters?.[prompt.argument.name]
    if (!prompt || value === undefined) {
      const wrong = prompt ? `\`${prompt.argument.name}\` is required.` : `There is no prompt ${name.slice(0, 64)}.`
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, wrong)
    }
    return {
      description: prompt.description,
      messages: [{ role: 'user', content: { type: 'text', text: prompt.text(value) } }],
    }
  })
}
