import { expect, test } from 'vitest'
import { getProviderTitle } from '#shared/contract/families.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import { findNameConflicts, formatModelCount, formatPerMillion, formatTokens } from './modelLabels.ts'

test('formats prices exactly and token counts briefly', () => {
  expect([0, 0.05, 1.25, 0.0125, 15].map(formatPerMillion)).toEqual(['Free', '$0.05', '$1.25', '$0.0125', '$15.00'])
  expect([8_192, 128_000, 400_000, 1_000_000, 1_048_576].map(formatTokens)).toEqual(['8K', '128K', '400K', '1M', '1M'])
  expect([0, 1, 3].map(formatModelCount)).toEqual(['No models', '1 model', '3 models'])
})

test('lists model names already used by another provider', () => {
  const listed = [
    { id: 'gpt-5.2', provider: 'openai' },
    { id: 'llama', provider: 'local:ollama' },
    { id: 'phi', provider: 'local:shed' },
  ] as ListedModel[]
  const server = { name: 'shed', models: ['gpt-5.2', 'llama', 'phi', 'new'] }
  expect(findNameConflicts(server, listed)).toEqual([
    { model: 'gpt-5.2', by: 'OpenAI' },
    { model: 'llama', by: 'ollama' },
  ])
  expect(getProviderTitle('moonshot')).toBe('Moonshot AI')
})
