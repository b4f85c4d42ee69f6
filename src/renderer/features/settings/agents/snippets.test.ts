import { expect, test } from 'vitest'
import { buildSnippets, codingClients, findDefaultModel, findSmallModel } from './snippets.ts'

const options = {
  origin: 'http://127.0.0.1:4100',
  model: 'claude-opus-4.6',
  smallModel: 'claude-haiku-4.5',
  contextWindow: 200_000,
}

test('every client uses the origin of this Steward and reads the key from a variable', () => {
  for (const { id } of codingClients) {
    for (const { text } of buildSnippets(id, options)) {
      expect(text).toContain(options.origin)
      expect(text).toContain('STEWARD_KEY')
      expect(text).not.toContain('sk_')
    }
  }
})

test('only base URLs of OpenAI clients include /v1', () => {
  for (const { id } of codingClients) {
    if (id === 'environment') continue
    const [{ text } = { text: '' }] = buildSnippets(id, options)
    expect(text.includes(`${options.origin}/v1`), id).toBe(!/claude|anthropic/.test(id))
  }
})

test('snippets set the context window of the model', () => {
  expect(buildSnippets('codex', options)[0]?.text).toContain('\nmodel_context_window = 200000\n\n[model_providers')
  expect(buildSnippets('claude-code', options)[0]?.text).toContain('export CLAUDE_CODE_MAX_CONTEXT_TOKENS=200000')
})

test('selects a suitable default model for a client from the available models', () => {
  const models = ['gemini-3-pro', 'gpt-5.2', 'claude-sonnet-4.5', 'claude-haiku-4.5']
  expect(findDefaultModel('codex', models)).toBe('gpt-5.2')
  expect(findDefaultModel('claude-code', models)).toBe('claude-sonnet-4.5')
  expect(findDefaultModel('claude-code', ['llama'])).toBe('llama')
  expect(findDefaultModel('codex', [])).toBeUndefined()
  expect(findSmallModel('claude-sonnet-4.5', models)).toBe('claude-haiku-4.5')
  expect(findSmallModel('gpt-5.2', models)).toBe('gpt-5.2')
})
