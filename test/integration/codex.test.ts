import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { modelService } from '../support/models/modelService.ts'
import { plainUsage } from '../support/models/scriptedAnswer.ts'

/** OpenAI's coding agent, as published in its package, works with the families of other providers. */
const { service, providers, close } = await modelService()
afterAll(close)
beforeEach(() => providers.clear())

const codex = createRequire(import.meta.url).resolve('@openai/codex/bin/codex.js')

function config(model: string): string {
  return `model = "${model}"
model_provider = "steward"
[model_providers.steward]
name = "Steward"
base_url = "${service.url}/v1"
wire_api = "responses"
env_key = "STEWARD_KEY"
`
}

async function ran(model: string, work: string): Promise<{ code: number | null; output: string }> {
  const home = temporaryFolder('codex-home')
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'config.toml'), config(model))
  const flags = [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    'Write a note and read it.',
  ]
  const program = spawn(process.execPath, [codex, ...flags], {
    cwd: work,
    env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, STEWARD_KEY: service.key },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  program.stdout.on('data', (bytes) => {
    output += bytes
  })
  program.stderr.on('data', (bytes) => {
    output += bytes
  })
  const code = await new Promise<number | null>((resolve) => program.once('close', resolve))
  return { code, output }
}

type Tool = {
  name?: string
  function?: { name: string; parameters: unknown }
  input_schema?: unknown
  functionDeclarations?: Tool[]
}

/** Returns the tool that runs commands: its name in this family, and the format of its input. */
function shellTool(): { name: string; args: (command: string) => string } {
  const tools = (providers.requests[0]!.body.tools as Tool[]).flatMap((tool) => tool.functionDeclarations ?? [tool])
  const names = tools.map((tool) => tool.name ?? tool.function?.name ?? '')
  const name = names.find((it) => /^(exec_command|shell_command|shell)$/.test(it))
  if (!name) throw new Error(`There is no shell among ${names.join(', ')}.`)
  return {
    name,
    args: (command) =>
      JSON.stringify(
        name === 'exec_command'
          ? { cmd: command }
          : name === 'shell'
            ? { command: ['bash', '-lc', command] }
            : { command },
      ),
  }
}

test.each([{ model: 'claude-sonnet-4.5' }, { model: 'gemini-3-pro' }, { model: 'kimi-k2.5' }])(
  'completes a task with tools through $model',
  async ({ model }) => {
    const work = temporaryFolder('codex-work')
    mkdirSync(work, { recursive: true })
    providers.playThen(() => {
      const { name, args } = shellTool()
      return [
        {
          parts: [
            { text: 'I write it.' },
            { call: name, id: 'call_write', args: args('echo "a note" > note.txt'), signature: 'c2ln' },
          ],
          usage: plainUsage,
        },
        {
          parts: [
            { text: 'I read it.' },
            { call: name, id: 'call_read', args: args('cat note.txt'), signature: 'c2lo' },
          ],
          usage: plainUsage,
        },
        { parts: [{ text: 'The note says what I wrote.' }], usage: plainUsage },
      ]
    })
    const { code, output } = await ran(model, work)
    expect(code, output).toBe(0)
    expect(existsSync(join(work, 'note.txt')), output).toBe(true)
    expect(readFileSync(join(work, 'note.txt'), 'utf8')).toBe('a note\n')
    expect(output).toContain('The note says what I wrote.')
    expect(JSON.stringify(providers.requests.at(-1)?.body)).toContain('a note')
    const { json } = await service.send('/v1/credits/history?limit=3')
    const charge = { type: 'inference', description: model, metadata: { estimated: false } }
    expect(json.transactions).toMatchObject([charge, charge, charge])
  },
)
