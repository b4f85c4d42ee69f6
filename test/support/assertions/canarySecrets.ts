import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { base58 } from '@scure/base'
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { createTextSearch } from './textSearch.ts'

/** Secret that a test passes to Steward, in every form in which it might be written. */
export type Planted = { name: string; forms: readonly Form[] }
type Form = { as: string; bytes: Buffer }

/** Written data and where it was found. */
export type Written = { where: string; bytes: Buffer }

export function plantText(name: string, text: string): Planted {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const uri = encodeURIComponent(text)
  const html = text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;').replaceAll('<', '&lt;')
  return createPlanted(name, [
    ...[text, json, JSON.stringify(json).slice(1, -1), ascii, html].map((it) => form('text', it)),
    ...[uri, uri.replaceAll('%20', '+'), encodeURIComponent(uri)].map((it) => form('part of an address', it)),
    { as: 'UTF-16', bytes: Buffer.from(text, 'utf16le') },
    ...encodeForms(Buffer.from(text)),
  ])
}

export function plantBytes(name: string, bytes: Uint8Array): Planted {
  const list = [...bytes]
  return createPlanted(name, [
    { as: 'bytes', bytes: Buffer.from(bytes) },
    form('base58', base58.encode(bytes)),
    ...[',', ', ', ',\n'].map((between) => form('list of bytes', list.join(between))),
    ...encodeForms(Buffer.from(bytes)),
  ])
}

/** Returns the phrase, its entropy, and the secrets derived from it. */
export function plantPhrase(name: string, phrase: string): Planted[] {
  const phraseParts = phrase.split(' ')
  const parts = [', ', ',', '","', '\n', '\\n', '-', '|'].map((between) =>
    form('list of words', phraseParts.join(between)),
  )
  return [
    plantText(name, phrase),
    createPlanted(`${name}, its words`, parts),
    plantBytes(`${name}, its entropy`, mnemonicToEntropy(phrase, wordlist)),
    plantBytes(`${name}, its seed`, mnemonicToSeedSync(phrase)),
  ]
}

/** Searches for all secrets in one pass. @returns one sentence for each match */
export function searchFor(secrets: readonly Planted[]): (written: Written) => string[] {
  const forms = secrets.flatMap(({ name, forms }) => forms.map((it) => ({ ...it, name })))
  const search = createTextSearch(forms.map(({ bytes }) => bytes))
  return ({ where, bytes }) =>
    search(bytes)
      .flatMap((index) => forms[index] ?? [])
      .map(({ name, as }) => `${name} as ${as} in ${where}`)
}

/** Empty file systems of several gigabytes, written only by `mkfs`. */
const templates = 'host/machines/templates'

/** Reads every file below the folder whose name matches, except disk templates. */
export function readFiles(folder: string, name = /./): Written[] {
  for (let tries = 1; ; tries += 1) {
    try {
      return filesIn(folder, name)
    } catch (error) {
      // A program may rename or remove a file during the scan, so the scan is repeated.
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing || tries === maxReadings) throw error
    }
  }
}

const maxReadings = 20

function filesIn(folder: string, name: RegExp): Written[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => name.test(it.name))
    .map((dirent) => join(dirent.parentPath, dirent.name))
    .filter((file) => lstatSync(file).isFile() && !file.startsWith(join(folder, templates)))
    .map((file) => ({ where: relative(folder, file), bytes: readFileSync(file) }))
}

function createPlanted(name: string, forms: readonly Form[]): Planted {
  return { name, forms: forms.filter(({ bytes }, index) => forms.findIndex((it) => it.bytes.equals(bytes)) === index) }
}

function form(as: string, text: string): Form {
  return { as, bytes: Buffer.from(text) }
}

function encodeForms(bytes: Buffer): Form[] {
  const hex = bytes.toString('hex')
  return [
    form('hexadecimal', hex),
    form('hexadecimal', hex.toUpperCase()),
    ...[0, 1, 2].flatMap((before) => {
      const text = innerBase64(bytes, before)
      return [form('base64', text), form('base64url', text.replaceAll('+', '-').replaceAll('/', '_'))]
    }),
  ]
}

/**
 * Returns the part of the secret's base64 encoding that does not depend on the surrounding text. `before` is the length
 * of the preceding text modulo 3.
 */
function innerBase64(bytes: Buffer, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes])
  return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
}
