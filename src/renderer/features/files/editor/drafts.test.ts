import { expect, test } from 'vitest'
import { SandboxId } from '../../../../shared/ids.ts'
import { drafts } from './drafts.ts'

const [one, other] = ['a', 'b'].map((digit) => SandboxId.parse(digit.repeat(32))) as [SandboxId, SandboxId]

function storage(mostBytes = 1000): Storage {
  const held = new Map<string, string>()
  return {
    get length() {
      return held.size
    },
    key: (at) => [...held.keys()][at] ?? null,
    getItem: (key) => held.get(key) ?? null,
    setItem(key, value) {
      if (value.length > mostBytes) throw new DOMException('full', 'QuotaExceededError')
      held.set(key, value)
    },
    removeItem: (key) => void held.delete(key),
    clear: () => held.clear(),
  }
}

test('keeps what was not saved, for each sandbox by itself', () => {
  const held = storage()
  const mine = drafts(one, held)
  mine.keep('/root/b.txt', { text: 'new', version: 'v1' })
  mine.keep('/root/a: b.txt', { text: '', version: 'v2' })
  expect(mine.paths()).toEqual(['/root/a: b.txt', '/root/b.txt'])
  expect(drafts(one, held).read('/root/b.txt')).toEqual({ text: 'new', version: 'v1' })
  expect(drafts(other, held).paths()).toEqual([])
  mine.forget('/root/b.txt')
  expect(mine.read('/root/b.txt')).toBeUndefined()
})

test('what has no room leaves no older text behind, and what is no draft is none', () => {
  const held = storage(60)
  const mine = drafts(one, held)
  mine.keep('/a', { text: 'short', version: 'v' })
  mine.keep('/a', { text: 'long'.repeat(100), version: 'v' })
  expect(mine.read('/a')).toBeUndefined()
  held.setItem(`steward.draft.${one}:/b`, 'no JSON')
  expect(mine.read('/b')).toBeUndefined()
})
