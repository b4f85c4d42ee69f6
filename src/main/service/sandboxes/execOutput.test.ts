import { expect, test } from 'vitest'
import { minEscapedBytes } from '../base/chooseEncoding.ts'
import { encodeOutput } from './execOutput.ts'

const output = (stdout: Buffer | string, truncated = false) =>
  encodeOutput({ stdout: Buffer.from(stdout), stderr: Buffer.alloc(0), truncated })

test('encodes text as UTF-8 and other output as base64', () => {
  expect(output('ü')).toEqual({ stdout: 'ü', stderr: '', encoding: 'utf8' })
  expect(output(Buffer.from([0xff]))).toEqual({ stdout: '/w==', stderr: '', encoding: 'base64' })
})

test.each(['é', '€', '😀'])('drops an incomplete %s at the end of a truncated stream', (character) => {
  const whole = Buffer.from(`ab${character}`)
  for (let length = 3; length < whole.length; length++) {
    expect(output(whole.subarray(0, length), true)).toMatchObject({ stdout: 'ab', encoding: 'utf8' })
  }
  expect(output(whole, true).stdout).toBe(`ab${character}`)
})

test('encodes a truncated stream with invalid UTF-8 before its end as base64', () => {
  expect(output(Buffer.from([0xff, 0x61]), true).encoding).toBe('base64')
})

test('encodes long output as base64 if escapes would double its size', () => {
  const controls = Buffer.alloc(minEscapedBytes, '\u0001')
  expect(output(controls)).toEqual({ stdout: controls.toString('base64'), stderr: '', encoding: 'base64' })
  const lines = Buffer.alloc(minEscapedBytes, '\n') // escapes exactly double the size
  expect(output(lines).encoding).toBe('utf8')
  lines[0] = 1
  expect(output(lines).encoding).toBe('base64')
})

test('encodes short output of control characters as text', () => {
  const controls = '\u0001'.repeat(minEscapedBytes - 1)
  expect(output(controls)).toEqual({ stdout: controls, stderr: '', encoding: 'utf8' })
})
