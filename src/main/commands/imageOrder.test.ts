import { expect, test } from 'vitest'
import { readStartOptions } from '#config/startOptions.ts'
import { parseImageCommand } from './imageOrder.ts'

const read = (...parts: string[]) => readStartOptions(parts, { HOME: '/home/ada' })
const order = (...parts: string[]) => {
  const { image } = read(...parts)
  return image && parseImageCommand(image)
}

test('parses every image command', () => {
  expect(read('image', 'list').command).toBe('image')
  expect(order('image', 'list')).toEqual({ kind: 'list' })
  expect(order('image', 'remove', 'debian')).toEqual({ kind: 'remove', name: 'debian' })
  expect(order('image', 'add', 'debian', '--packages', 'jq,g++')).toEqual({
    kind: 'add',
    name: 'debian',
    source: { kind: 'system', packages: ['jq', 'g++'] },
  })
  expect(order('image', 'add', 'alpine', '--from', '/tmp/alpine.tar')).toEqual({
    kind: 'add',
    name: 'alpine',
    source: { kind: 'archive', path: '/tmp/alpine.tar' },
  })
  expect(read('image', '--help')).toMatchObject({ command: 'help', image: undefined })
  expect(read()).toMatchObject({ command: 'start', image: undefined })
})

test.each([
  [['image'], '`image` requires `add NAME`, `remove NAME` or `list`.'],
  [['image', 'list', 'debian'], '`image` requires `add NAME`, `remove NAME` or `list`.'],
  [['image', 'add'], 'The name of the image is missing.'],
  [['image', 'add', 'Large'], /^The name of the image must begin with a lower-case letter/],
  [['image', 'add', 'x', '--from', 'x.tar', '--packages', 'jq'], /^--packages requires `--from system`/],
  [['image', 'add', 'x', '--packages', '--hostile'], '--packages requires A,B.'],
  [['image', 'add', 'x', '--packages', 'Jq'], '--packages Jq must be names of packages.'],
  [['image', 'list', '--packages', 'jq'], '--from and --packages require `image add`.'],
  [['--from', 'x.tar'], '--from and --packages require `image add`.'],
] as const)('%j is refused', (parts, message) => {
  const error = expect.objectContaining({
    code: 'command/usage',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  })
  expect(() => order(...parts)).toThrow(error)
})
