import { type Html, html } from './html.ts'
import type { Problem, RenderContext } from './securePromptStep.ts'

type FieldTexts = { name: string; label: string; hint?: string }

export function renderPassphraseField({ problem }: RenderContext): Html {
  const texts = { name: 'passphrase', label: 'Wallet passphrase' }
  return renderField(
    texts,
    html`<input type="password" autocomplete="current-password" required ${renderAttributes(texts, problem)}>`,
  )
}

type NewSecret = { name: string; label: string; again: string; hint: string }

/** Renders two fields for a new passphrase or password: `name` and `name_again`. */
export function renderNewSecretFields({ name, label, again, hint }: NewSecret, { problem }: RenderContext): Html {
  const first = { name, label, hint }
  const second = { name: `${name}_again`, label: again }
  const input = (texts: FieldTexts) =>
    renderField(
      texts,
      html`<input type="password" autocomplete="new-password" required ${renderAttributes(texts, problem)}>`,
    )
  return html`<div class="field-pair">${input(first)}${input(second)}</div>`
}

/** Renders a password field that password managers do not save or fill in. */
export function renderSecretField(texts: FieldTexts, { problem }: RenderContext): Html {
  return renderField(
    texts,
    html`<input type="password" autocomplete="off" required ${renderAttributes(texts, problem)}>`,
  )
}

export function renderTextField(
  texts: FieldTexts & { needed?: true; maxLength?: number },
  { problem, form: choices }: RenderContext,
): Html {
  const { name, needed, maxLength } = texts
  const value = choices(name)
  return renderField(
    texts,
    html`<input type="text" autocomplete="off" value="${value}"${needed && html` required`}${
      maxLength !== undefined && html` maxlength="${maxLength}"`
    } ${renderAttributes(texts, problem)}>`,
  )
}

/** Renders a text area for a secret. It is never filled in again after an error. */
export function renderSecretArea(texts: FieldTexts & { rows: number }, { problem }: RenderContext): Html {
  return renderField(
    texts,
    html`<textarea rows="${texts.rows}" class="mono" autocomplete="off" ${renderAttributes(texts, problem)}></textarea>`,
  )
}

export function renderFileField(texts: FieldTexts & { accept: string }, { problem }: RenderContext): Html {
  return renderField(texts, html`<input type="file" accept="${texts.accept}" ${renderAttributes(texts, problem)}>`)
}

export type Choice = { value: string; label: string; detail?: string }

/** Renders radio buttons. The first is checked unless another was selected before. */
export function renderChoiceField(
  name: string,
  legend: string,
  choices: readonly Choice[],
  { form }: RenderContext,
): Html {
  const chosen = form(name) || choices[0]?.value
  const options = choices.map(
    ({ value, label, detail }) =>
      html`<label class="choice"><input type="radio" name="${name}" value="${value}"${
        value === chosen && html` checked`
      }><span>${label}${detail !== undefined && html`<small>${detail}</small>`}</span></label>`,
  )
  return html`<fieldset><legend>${legend}</legend><div class="choices">${options}</div></fieldset>`
}

type ActionButton = { label: string; value?: string; tone?: 'danger' }

/** The main button comes first, because Enter activates the first one. The style displays it last. */
export function renderActionButtons(main: ActionButton, ...others: readonly Html[]): Html {
  const { label, value = 'next', tone } = main
  return html`<footer><button name="do" value="${value}" class="${tone ?? 'primary'}">${label}</button>${others}</footer>`
}

/** Renders a button that skips the validation of required fields. */
export function renderSecondaryButton(label: string, value: string): Html {
  return html`<button name="do" value="${value}" formnovalidate>${label}</button>`
}

export const cancelButton = renderSecondaryButton('Cancel', 'cancel')

export function renderWarning(text: Html): Html {
  return html`<p class="warning">${text}</p>`
}

export function renderProblem(problem: Problem | undefined): Html | undefined {
  if (!problem) return undefined
  const { message, hint } = problem
  return html`<div role="alert" id="problem"><p>${message}</p>${hint !== undefined && html`<p class="hint">${hint}</p>`}</div>`
}

function renderField({ name, label, hint }: FieldTexts, control: Html): Html {
  return html`<div class="field"><label for="${name}">${label}</label>${control}${
    hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`
  }</div>`
}

function renderAttributes({ name, hint }: FieldTexts, problem: Problem | undefined): Html {
  const isWrong = problem?.field === name
  const notes = [...(isWrong ? ['problem'] : []), ...(hint === undefined ? [] : [`${name}-hint`])].join(' ')
  return html`id="${name}" name="${name}" autocapitalize="none" autocorrect="off" spellcheck="false"${
    notes !== '' && html` aria-describedby="${notes}"`
  }${isWrong && html` aria-invalid="true"`}`
}
