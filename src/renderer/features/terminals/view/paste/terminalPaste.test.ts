import { expect, test } from 'vitest'
import { createTerminalPaste } from './terminalPaste.ts'

const long = 'x'.repeat(60_000)

function open({ bracketed = false, warns = true } = {}) {
  const typed: string[] = []
  const paste = createTerminalPaste({
    isBracketed: () => bracketed,
    warns: () => warns,
    type: (text) => typed.push(text) > 0,
  })
  return { paste, typed, all: () => typed.join('') }
}

test('pastes one line without control characters', () => {
  const { paste, typed } = open()
  paste.paste('ls -l\x1b[A\n')
  expect(typed).toEqual(['ls -l[A\r'])
  expect(paste.progress.now).toBeUndefined()
})

test('asks for confirmation before it types several lines', () => {
  const { paste, all } = open()
  paste.paste('one\ntwo\n')
  expect(paste.question.now).toEqual({ lines: ['one', 'two'] })
  expect(all()).toBe('')
  paste.answer('all')
  expect(paste.question.now).toBeUndefined()
  expect(all()).toBe('one\rtwo\r')
})

test('joins several lines into one or discards them on request', () => {
  const { paste, all } = open()
  paste.paste(' one\ntwo\n')
  paste.answer('one-line')
  paste.paste('three\nfour')
  paste.answer('nothing')
  expect(all()).toBe('one two')
})

test('skips confirmation for a bracketed paste or when the user disabled it', () => {
  const bracketed = open({ bracketed: true })
  bracketed.paste.paste('one\ntwo')
  expect(bracketed.all()).toBe('\x1b[200~one\rtwo\x1b[201~')
  const silent = open({ warns: false })
  silent.paste.paste('one\ntwo')
  expect(silent.all()).toBe('one\rtwo')
})

test('queues input typed or pasted during a long paste', () => {
  const { paste, all } = open({ bracketed: true })
  paste.paste(long)
  paste.typed('y')
  paste.paste('z')
  expect(paste.progress.now).toEqual({ arrived: 0, whole: long.length })
  while (paste.progress.now) paste.arrived()
  expect(all()).toBe(`\x1b[200~${long}\x1b[201~y\x1b[200~z\x1b[201~`)
})

test('Ctrl+C aborts a long paste and is sent to the program', () => {
  const { paste, typed } = open()
  paste.paste(long)
  paste.typed('lost')
  paste.typed('\x03')
  expect(typed).toHaveLength(2)
  expect(typed[1]).toBe('\x03')
  expect(paste.progress.now).toBeUndefined()
})
