import { expect, test } from 'vitest'
import { catalogueFile } from '#test/support/models/gatewayWorld.ts'
import { readModelCatalogue } from '../catalogue/modelCatalogue.ts'
import { createProviderSettings } from './providerSettings.ts'

const catalogue = readModelCatalogue(catalogueFile.pathname)
const shed = { name: 'shed', baseUrl: 'http://127.0.0.1:11434/v1', models: [{ name: 'llama' }, { name: 'gpt-5.2' }] }

test('configures a provider only while it has a key', () => {
  const settings = createProviderSettings(catalogue, {
    families: { b: { apiKey: 'sk-b', baseUrl: 'http://b.example' } },
    local: [],
  })
  expect(settings.findProvider({ providerId: 'a' })).toBeUndefined()
  expect(settings.findProvider({ providerId: 'b' })).toEqual({ baseUrl: 'http://b.example', apiKey: 'sk-b' })
  settings.setKey('a', 'sk-a')
  expect(settings.findProvider({ providerId: 'a' })).toEqual({ baseUrl: 'https://api.openai.com/v1', apiKey: 'sk-a' })
  settings.setKey('a', undefined)
  expect(settings.findProvider({ providerId: 'a' })).toBeUndefined()
})

test('adds models of a local server except those with a catalogue name', () => {
  const settings = createProviderSettings(catalogue, { families: {}, local: [shed] })
  expect(settings.modelNamed('llama')).toMatchObject({ providerId: 'local:shed' })
  expect(settings.modelNamed('gpt-5.2')).toMatchObject({ providerId: 'a' })
  expect(settings.findProvider({ providerId: 'local:shed' })).toMatchObject({ baseUrl: shed.baseUrl })
})

test('prefers the key of the user over the configured key', () => {
  const settings = createProviderSettings(catalogue, { families: { a: { apiKey: 'sk-config' } }, local: [] })
  settings.setKey('a', 'sk-person')
  expect(settings.findProvider({ providerId: 'a' })).toMatchObject({ apiKey: 'sk-person' })
  settings.setKey('a', undefined)
  expect(settings.findProvider({ providerId: 'a' })).toMatchObject({ apiKey: 'sk-config' })
})

test('rejects names of added servers that are already in use', () => {
  const settings = createProviderSettings(catalogue, { families: {}, local: [shed] })
  const createServer = (name: string, ...models: string[]) => ({
    name,
    baseUrl: `http://127.0.0.1/${name}`,
    models: models.map((it) => ({ name: it })),
  })
  const refused = settings.setLocal([
    createServer('ollama', 'claude-opus-4.6', 'llama', 'mistral'),
    createServer('lm-studio', 'mistral', 'phi'),
    createServer('shed', 'phi-2'),
  ])
  expect(refused).toEqual([
    { server: 'shed', model: 'gpt-5.2', existingOwner: 'a' },
    { server: 'ollama', model: 'claude-opus-4.6', existingOwner: 'b' },
    { server: 'ollama', model: 'llama', existingOwner: 'local:shed' },
    { server: 'lm-studio', model: 'mistral', existingOwner: 'local:ollama' },
    { server: 'shed', existingOwner: 'local:shed' },
  ])
  expect(settings.modelNamed('claude-opus-4.6')).toMatchObject({ providerId: 'b' })
  expect(settings.modelNamed('mistral')).toMatchObject({ providerId: 'local:ollama' })
  expect(settings.findProvider({ providerId: 'local:shed' })).toMatchObject({ baseUrl: shed.baseUrl })
  settings.setLocal([])
  expect(settings.modelNamed('mistral')).toBeUndefined()
  expect(settings.findProvider({ providerId: 'local:ollama' })).toBeUndefined()
  expect(settings.modelNamed('llama')).toMatchObject({ providerId: 'local:shed' })
})
