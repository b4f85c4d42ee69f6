import { describe, expect, test } from 'vitest'
import { suiteForm } from '#scripts/suiteForms.ts'
import { ledgerHistory } from '#test/simulation/ledgerHistory.ts'
import { plantedBugs } from '#test/simulation/plantedBugs.ts'

const histories = suiteForm.ledgerHistories
const enoughToFind = 3_000

test(`${histories} histories over failing disks and networks end as the model says`, async () => {
  for (let seed = 0; seed < histories; seed += 1) {
    await ledgerHistory(seed).catch((cause: unknown) => {
      throw new Error(`Seed ${seed} fails: npm run simulate -- --seed ${seed}`, { cause })
    })
  }
})

test('a seed reproduces the same history', async () => {
  expect(await ledgerHistory(7)).toEqual(await ledgerHistory(7))
})

describe('detects the planted bug when', () => {
  test.each(Object.entries(plantedBugs))('%s', async (_, bug) => {
    expect(await firstFailure(bug)).toBeLessThan(enoughToFind)
    expect(bug.unused?.() ?? []).toEqual([])
  })
})

async function firstFailure(bug: (typeof plantedBugs)[string]): Promise<number> {
  for (let seed = 0; seed < enoughToFind; seed += 1) {
    try {
      await ledgerHistory(seed, bug)
    } catch {
      return seed
    }
  }
  return enoughToFind
}
