import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSecurePromptAssets } from './securePromptAssets.ts'

function built(): string {
  const folder = temporaryFolder('pages')
  mkdirSync(join(folder, 'assets'))
  for (const name of [
    'prompt-AbC_12-x.css',
    'prompt-Zyx98765.js',
    'spreadsheet-CTIncYxj.js',
    'base-C18HRjrl.js',
    'inter-latin-wght-normal-Dx4kXJAl.woff2',
  ]) {
    writeFileSync(join(folder, 'assets', name), name)
  }
  writeFileSync(join(folder, 'index.html'), 'the window')
  return folder
}

test('serves the style, script and fonts of a page with their type', async () => {
  const asset = createSecurePromptAssets(built())
  const read = async (name: string) => {
    const { bytes, type } = (await asset(name)) ?? { bytes: Buffer.from('none'), type: 'none' }
    return [bytes.toString(), type]
  }
  expect(await read('prompt.css')).toEqual(['prompt-AbC_12-x.css', 'text/css; charset=utf-8'])
  expect(await read('prompt.js')).toEqual(['prompt-Zyx98765.js', 'text/javascript; charset=utf-8'])
  const font = 'inter-latin-wght-normal-Dx4kXJAl.woff2'
  expect(await read(font)).toEqual([font, 'font/woff2'])
})

test('serves no other interface file to a secure prompt', async () => {
  const asset = createSecurePromptAssets(built())
  for (const name of ['base-C18HRjrl.js', 'spreadsheet-CTIncYxj.js', 'prompt-Zyx98765.js', '../index.html', '', '..']) {
    expect(asset(name)).toBeUndefined()
  }
  await expect(asset('inter-../../index.html.woff2') ?? Promise.reject(new Error('none'))).rejects.toThrow()
})

test('reports a missing interface build', async () => {
  await expect(createSecurePromptAssets(temporaryFolder('empty'))('prompt.css')).rejects.toMatchObject({
    code: 'request/not-found',
  })
})
