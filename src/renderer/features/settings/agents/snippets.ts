/**
 * Configuration of a coding agent or library for Steward's models. The API key is read from a variable and never part
 * of the text.
 */
export type Snippet = { title: string; language: 'toml' | 'shell' | 'python' | 'javascript'; text: string }

export type SnippetOptions = {
  /** Origin of this Steward, such as `http://127.0.0.1:4100`. */
  origin: string
  model: string
  /** Model for small tasks, used by clients that support a second model. */
  smallModel: string
  /** Context window of `model`, in tokens. Clients assume a different size for unknown models. */
  contextWindow: number
}

export const codingClients = [
  { id: 'codex', label: 'Codex', keyName: 'codex' },
  { id: 'claude-code', label: 'Claude Code', keyName: 'claude-code' },
  { id: 'openai-python', label: 'OpenAI Python', keyName: 'openai-python' },
  { id: 'openai-js', label: 'OpenAI JS', keyName: 'openai-js' },
  { id: 'anthropic-python', label: 'Anthropic Python', keyName: 'anthropic-python' },
  { id: 'anthropic-js', label: 'Anthropic JS', keyName: 'anthropic-js' },
  { id: 'environment', label: 'Environment', keyName: 'environment' },
  { id: 'curl', label: 'curl', keyName: 'curl' },
] as const
export type CodingClient = (typeof codingClients)[number]['id']

/** Prompts for the API key without displaying it or adding it to the shell history. */
export const readKeyLine = 'read -rs STEWARD_KEY && export STEWARD_KEY'

export function buildSnippets(client: CodingClient, options: SnippetOptions): Snippet[] {
  return makers[client](options)
}

const makers: Record<CodingClient, (options: SnippetOptions) => Snippet[]> = {
  codex: ({ origin, model, contextWindow }) => [
    {
      title: '~/.codex/config.toml',
      language: 'toml',
      text: `model = "${model}"
model_provider = "steward"
model_context_window = ${contextWindow}

[model_providers.steward]
name = "Steward"
base_url = "${origin}/v1"
wire_api = "responses"
env_key = "STEWARD_KEY"`,
    },
  ],
  'claude-code': ({ origin, model, smallModel, contextWindow }) => [
    {
      title: 'Shell, before you start claude',
      language: 'shell',
      text: `unset ANTHROPIC_API_KEY
export ANTHROPIC_BASE_URL="${origin}"
export ANTHROPIC_AUTH_TOKEN="$STEWARD_KEY"
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${smallModel}"
export CLAUDE_CODE_MAX_CONTEXT_TOKENS=${contextWindow}`,
    },
  ],
  'openai-python': ({ origin, model }) => [
    {
      title: 'Python',
      language: 'python',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["STEWARD_KEY"])
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
  ],
  'openai-js': ({ origin, model }) => [
    {
      title: 'JavaScript',
      language: 'javascript',
      text: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.STEWARD_KEY })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    },
  ],
  'anthropic-python': ({ origin, model }) => [
    {
      title: 'Python',
      language: 'python',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key=os.environ["STEWARD_KEY"])
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.content[0].text)`,
    },
  ],
  'anthropic-js': ({ origin, model }) => [
    {
      title: 'JavaScript',
      language: 'javascript',
      text: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${origin}', apiKey: process.env.STEWARD_KEY })
// client.beta.messages.toolRunner needs \`thread: false\`: Steward stores no conversations.
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.content[0].text)`,
    },
  ],
  environment: ({ origin }) => [
    {
      title: 'Programs that read OpenAI’s variables',
      language: 'shell',
      text: `export OPENAI_BASE_URL="${origin}/v1"
export OPENAI_API_KEY="$STEWARD_KEY"`,
    },
    {
      title: 'Programs that read Anthropic’s variables',
      language: 'shell',
      text: `export ANTHROPIC_BASE_URL="${origin}"
export ANTHROPIC_API_KEY="$STEWARD_KEY"`,
    },
  ],
  curl: ({ origin, model }) => [
    {
      title: 'Shell',
      language: 'shell',
      text: `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $STEWARD_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
  ],
}

/** Returns the available model that suits a client best. */
export function findDefaultModel(client: CodingClient, models: readonly string[]): string | undefined {
  const prefixes = /claude|anthropic/.test(client) ? ['claude-opus', 'claude-sonnet', 'claude'] : ['gpt-5.2', 'gpt']
  for (const start of prefixes) {
    const match = models.find((it) => it.startsWith(start))
    if (match !== undefined) return match
  }
  return models[0]
}

/** Returns the smaller model of the same family if there is one, otherwise the same model. */
export function findSmallModel(model: string, models: readonly string[]): string {
  if (!model.startsWith('claude')) return model
  return models.find((it) => it.startsWith('claude-haiku')) ?? model
}
