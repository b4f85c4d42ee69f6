import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { projectFolder } from '#test/support/fixtures/testProject.ts'
import { type TimeUseEntry, timeUses } from './timeUses.ts'

const folder = join(projectFolder, 'src/main')
const entries = Object.entries<TimeUseEntry>(timeUses)
const rows = entries.flatMap(([, { modules }]) => modules)

/** Matches reads of any clock. */
const reading = /\b(now|wallNow|steadyMs|latestMs|passedMs|runningMs)\(\)|Date\.now\b|performance\.now\(/
/** Files that implement clocks. */
const clocks = ['platform/time/clock.ts', 'platform/time/timeSource.ts']

function readers(): string[] {
  return ['agent', 'service', 'platform']
    .flatMap((part) =>
      readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map((file) => join(part, file)),
    )
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !clocks.includes(file))
    .filter((file) => reading.test(withoutComments(readFileSync(join(folder, file), 'utf8'))))
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
}

test('every module that reads a clock has a row about clock jumps', () => {
  expect(readers().filter((file) => !rows.includes(file))).toEqual([])
})

test('each row is unique and names a module that reads a clock', () => {
  const uses = readers()
  expect(rows.filter((file) => !uses.includes(file))).toEqual([])
  expect(rows.filter((file, index) => rows.indexOf(file) !== index)).toEqual([])
})

test('every effect is a sentence', () => {
  for (const [use, { effect, reads }] of entries) {
    expect(effect, use).toMatch(/^[A-Z].*\.$/)
    expect(reads.length, use).toBeGreaterThan(0)
  }
})
