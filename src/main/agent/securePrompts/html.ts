/** Markup with all values escaped. Created only by `html`. */
export type Html = { readonly markup: string }

type Value = Html | readonly Html[] | string | number | false | undefined

/**
 * Escapes values in a template. Attributes need double quotes: html`<p title="${name}">${text}</p>`. False and
 * undefined render nothing.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { markup: parts.reduce((before, part, index) => before + toMarkup(values[index - 1]) + part) }
}

function toMarkup(value: Value): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
