import type { SecurePromptMessage } from '#shared/contract/wallet.ts'
import { renderProblem } from './fields.ts'
import { type Html, html } from './html.ts'
import type { Problem, SecurePromptView } from './securePromptStep.ts'

export type SecurePromptEnd = 'done' | 'cancelled'
export type SecurePromptTheme = 'light' | 'dark'

/** Origin and theme of the window that displays the prompt. */
export type WindowContext = { window: string; theme: SecurePromptTheme }

type StepPage = { view: SecurePromptView; problem: Problem | undefined; key: string; context: WindowContext }

/** Renders a step with its form. The form must return `key`, which is secret. */
export function renderStepDocument({ view, problem, key, context }: StepPage): string {
  const body = html`<form method="post" action="/prompt/step" enctype="multipart/form-data" autocomplete="off" novalidate>
<input type="hidden" name="key" value="${key}">${renderProblem(problem)}${view.body}</form>`
  return renderDocument({ title: view.title, body, context })
}

/** Renders the last page. It notifies the window, which closes it. */
export function renderEndDocument(end: SecurePromptEnd, context: WindowContext): string {
  const body = html`<p>${end === 'done' ? 'You can close this page.' : 'Nothing was changed. You can close this page.'}</p>`
  return renderDocument({
    title: end === 'done' ? 'Done' : 'Cancelled',
    body,
    context,
    message: `steward.secure-prompt.${end}`,
  })
}

/** Renders the page for a missing or expired prompt. */
export function renderErrorDocument({ message, hint }: { message: string; hint: string }): string {
  return renderDocument({ title: 'This page has expired', body: html`<p>${message} ${hint}</p>`, context: undefined })
}

type Document = {
  title: string
  body: Html
  context: WindowContext | undefined
  message?: SecurePromptMessage['type']
}

function renderDocument({ title, body, context, message }: Document): string {
  const theme = context?.theme
  return html`<!doctype html>
<html lang="en"${theme !== undefined && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<title>${title}</title>
<link rel="stylesheet" href="/prompt/assets/prompt.css">
<script type="module" src="/prompt/assets/prompt.js"></script>
</head>
<body${context !== undefined && html` data-window="${context.window}"`}${message !== undefined && html` data-tells="${message}"`}>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.markup
}
