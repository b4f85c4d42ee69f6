import { until } from '../../support/assertions/eventually.ts'
import type { AppWindow } from './appWindow.ts'

/** Opens the Credits screen by its position among the sections. */
export async function openCredits(window: AppWindow) {
  const { page } = window
  await page.getByRole('navigation', { name: 'Sections' }).getByRole('button', { name: 'Credits' }).click()
  const root = page.getByRole('main')
  await root.getByRole('heading', { name: 'Credits', level: 2 }).waitFor()
  // Spending pushes the history down, and an open menu with it, once it is loaded.
  await root.getByText('Loading spending…').waitFor({ state: 'detached' })
  const part = (name: string) => root.getByRole('region', { name, exact: true })
  const figure = (name: string) => part('Balance').getByLabel(name, { exact: true })
  const rows = part('History').getByRole('listitem')
  /** Counts all listed transactions. Only the visible ones are rendered. */
  const countListed = async () =>
    (await rows.count()) === 0 ? 0 : Number(await rows.first().getAttribute('aria-setsize'))
  return {
    root,
    part,
    figure,
    reads: (name: string, text: string) =>
      until(`${name} to read ${text}`, async () => (await figure(name).textContent()) === text),
    rows,
    listed: countListed,
    total: (count: number) => until(`${count} transactions`, async () => (await countListed()) === count),
    choose: async (field: string, name: string) => {
      await part('History')
        .getByRole('button', { name: new RegExp(`^${field} `) })
        .click()
      await page.getByRole('menuitemradio', { name }).first().click()
    },
  }
}
