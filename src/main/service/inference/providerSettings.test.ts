import { expect, test } from 'vitest'
import { catalogueFile } from '../../../../test/support/models/gatewayWorld.ts'
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
