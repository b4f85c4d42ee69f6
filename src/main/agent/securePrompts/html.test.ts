import { expect, test } from 'vitest'
import { html } from './html.ts'

test('escapes every value in text and attributes', () => {
  const value = `<a href="x" title='y'>&</a>`
  const escaped = '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;&lt;/a&gt;'
  expect(html`<p title="${value}">${value}</p>`.markup).toBe(`<p title="${escaped}">${escaped}</p>`)
})

test('renders nested markup, lists and numbers but omits missing values', () => {
  const items = ['a', '<b>'].map((it) => html`<li>${it}</li>`)
  expect(html`<ol start="${2}">${items}${false}${undefined}</ol>`.markup).toBe(
    '<ol start="2"><li>a</li><li>&lt;b&gt;</li></ol>',
  )
})
