import { expect, test } from 'vitest'
import { limitProcessors } from './sandboxView.ts'

const x64 = [0, 1, 2, 3]
  .map(
    (number) =>
      `processor\t: ${number}\nmodel name\t: Some CPU\nsiblings\t: 4\ncore id\t\t: ${number}\ncpu cores\t: 4\napicid\t\t: ${number}\n`,
  )
  .join('\n')

test('a sandbox sees its number of processors, numbered from 0', () => {
  const [text, count] = limitProcessors(`${x64}\n`, 2)
  expect(count).toBe(2)
  expect(text.match(/^processor\t: \d$/gm)).toEqual(['processor\t: 0', 'processor\t: 1'])
  expect(text.match(/^(siblings|cpu cores)\t: 2$/gm)).toHaveLength(4)
  expect(text.endsWith('\n\n')).toBe(true)
})

test('shows no more processors than the host has', () => {
  expect(limitProcessors(x64, 8)[1]).toBe(4)
})

test('preserves lines that an architecture reports for all processors', () => {
  const arm = 'processor\t: 0\nBogoMIPS\t: 108.00\n\nprocessor\t: 1\nBogoMIPS\t: 108.00\n\nHardware\t: Board\n'
  expect(limitProcessors(arm, 1)[0]).toBe('processor\t: 0\nBogoMIPS\t: 108.00\n\nHardware\t: Board\n\n')
})
