import { CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { Toaster as SonnerToaster, toast } from 'sonner'
import { describeError } from './describeError.ts'
import { useTheme } from './theme/useTheme.ts'

export type ToastAction = { label: string; run: () => void }
type ToastOptions = { hint?: string; action?: ToastAction }

/** Display time of a request, sufficient to read and respond. The request remains available in its section. */
const requestMs = 30_000

/** Toasts. Each states what happened and, if applicable, what to do. */
export const notify = {
  done(message: string, options: ToastOptions = {}): void {
    toast.success(message, { ...getDuration(options), ...buildContent(options) })
  },
  info(message: string, options: ToastOptions = {}): void {
    toast.info(message, { ...getDuration(options), ...buildContent(options) })
  },
  /** Shows a toast until it times out or is closed. @returns a function that removes it */
  asked(message: string, { id: named, ...options }: ToastOptions & { id?: string } = {}): () => void {
    const content = { duration: requestMs, ...buildContent(options) }
    const id = toast.info(message, { ...content, ...(named !== undefined && { id: named }) })
    return () => void toast.dismiss(id)
  },
  /** Dismisses the toast with this id, because its request is being handled. */
  takeBack(id: string): void {
    toast.dismiss(id)
  },
  /** Shows an error for 10 seconds, or longer while the pointer is over it. */
  failed(error: unknown, { title, action }: { title?: string; action?: ToastAction } = {}): void {
    const { message, hint } = describeError(error)
    const text = title === undefined ? { message, hint } : { message: title, hint: `${message} ${hint}`.trim() }
    toast.error(text.message, { duration: 10_000, ...buildContent({ hint: text.hint, ...(action && { action }) }) })
  },
}

/** Display time sufficient to read a toast and reach its action, such as Undo (WCAG 2.2.1). */
const actionMs = 15_000

function getDuration({ action }: ToastOptions) {
  return action ? { duration: actionMs } : {}
}

function buildContent({ hint, action }: ToastOptions) {
  return {
    ...(hint !== undefined && { description: hint }),
    ...(action && { action: { label: action.label, onClick: action.run } }),
  }
}

export function Toaster() {
  return (
    <SonnerToaster
      theme={useTheme()}
      // Below the header of a screen, so that toasts do not cover the composer, terminals or dialog buttons.
      position="top-right"
      offset={{ right: 16, top: 52 }}
      style={{ zIndex: 45 }}
      gap={8}
      closeButton
      icons={{
        success: <CircleCheck aria-hidden className="size-4 text-positive" />,
        info: <Info aria-hidden className="size-4 text-accent" />,
        error: <TriangleAlert aria-hidden className="size-4 text-negative" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            'flex w-full items-start gap-2.5 rounded-card bg-raised p-3 text-base font-sans text-text shadow-popover',
          icon: 'mt-0.5 shrink-0',
          closeButton:
            'order-last -mt-1 -mr-1 inline-flex size-6 shrink-0 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-text [&>svg]:size-3.5',
          content: 'min-w-0 flex-1',
          title: 'font-medium break-words',
          description: 'text-muted! break-words',
          actionButton:
            'h-7 shrink-0 self-center rounded-control border border-edge bg-control px-2.5 text-small font-medium hover:bg-control-hover',
        },
      }}
    />
  )
}
