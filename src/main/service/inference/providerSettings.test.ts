import { expect, test } from 'vitest'
import { catalogueFile } from '#test/support/models/gatewayWorld.ts'
import { readModelCatalogue } from './modelCatalogue.ts'
import { providerSettings } from './providerSettings.ts'

const catalogue = readModelCatalogue(catalogueFile.pathname)
const shed = { name: 'shed', baseUrl: 'http://127.0.0.1:11434/v1', models: [{ name: 'llama' }, { name: 'gpt-5.2' }] }

test('a family without a key is not configured, and is once the person sets one', () => {
  const settings = providerSettings(catalogue, {
    families: { b: { apiKey: 'sk-b', baseUrl: 'http://b.example' } },
    local: [],
  })
  expect(settings.providerOf({ place: 'a' })).toBeUndefined()
  expect(settings.providerOf({ place: 'b' })).toEqual({ baseUrl: 'http://b.example', apiKey: 'sk-b' })
  settings.setKey('a', 'sk-a')
  expect(settings.providerOf({ place: 'a' })).toEqual({ baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-a' })
  settings.setKey('a', undefined)
  expect(settings.providerOf({ place: 'a' })).toBeUndefined()
})

test('a local server adds its models, and takes no name of the catalogue', () => {
  const settings = providerSettings(catalogue, { families: {}, local: [shed] })
  expect(settings.modelNamed('llama')).toMatchObject({ place: 'local:shed' })
  expect(settings.modelNamed('gpt-5.2')).toMatchObject({ place: 'a' })
  expect(settings.providerOf({ place: 'local:shed' })).toMatchObject({ baseUrl: shed.baseUrl })
})

test('a key of the person counts before that of the configuration, which comes back', () => {
  const settings = providerSettings(catalogue, { families: { a: { apiKey: 'sk-config' } }, local: [] })
  settings.setKey('a', 'sk-person')
  expect(settings.providerOf({ place: 'a' })).toMatchObject({ apiKey: 'sk-person' })
  settings.setKey('a', undefined)
  expect(settings.providerOf({ place: 'a' })).toMatchObject({ apiKey: 'sk-config' })
})

test('servers that are added later take no name of the catalogue, the configuration or each other', () => {
  const settings = providerSettings(catalogue, { families: {}, local: [shed] })
  const at = (name: string, ...models: string[]) => ({
    name,
    baseUrl: `http://127.0.0.1/${name}`,
    models: models.map((it) => ({ name: it })),
  })
  const refused = settings.setLocal([
    at('ollama', 'claude-opus-4.6', 'llama', 'mistral'),
    at('lm-studio', 'mistral', 'phi'),
    at('shed', 'phi-2'),
  ])
  expect(refused).toEqual([
    { server: 'shed', model: 'gpt-5.2', takenBy: 'a' },
    { server: 'ollama', model: 'claude-opus-4.6', takenBy: 'b' },
    { server: 'ollama', model: 'llama', takenBy: 'local:shed' },
    { server: 'lm-studio', model: 'mistral', takenBy: 'local:ollama' },
    { server: 'shed', takenBy: 'local:shed' },
  ])
  expect(settings.modelNamed('claude-opus-4.6')).toMatchObject({ place: 'b' })
  expect(settings.modelNamed('mistral')).toMatchObject({ place: 'local:ollama' })
  expect(settings.providerOf({ place: 'local:shed' })).toMatchObject({ baseUrl: shed.baseUrl })
  settings.setLocal([])
  expect(settings.modelNamed('mistral')).toBeUndefined()
  expect(settings.providerOf({ place: 'local:ollama' })).toBeUndefined()
  expect(settings.modelNamed('llama')).toMatchObject({ place: 'local:shed' })
})
