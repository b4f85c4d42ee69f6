import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { historySeconds, type Series } from './metricHistory.ts'

type MetricChartProps = { series: Series; limit: number; highest: number }

const height = 40

/**
 * Chart of the last minutes with its limit. Screen readers use the adjacent text instead. Colors are read on creation,
 * so the theme must be used as the key.
 */
export function MetricChart({ series, limit, highest }: MetricChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const ceiling = Math.max(limit, highest) * 1.08
  const state = useRef({ series, limit, ceiling })
  state.current = { series, limit, ceiling }

  useEffect(() => {
    const element = place.current
    if (!element) return
    const chart = new UPlot(
      createChartOptions(element, () => state.current),
      toChartData(state.current.series),
      element,
    )
    plot.current = chart
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
  }, [])

  useEffect(() => plot.current?.setData(toChartData(series)), [series])

  return <div ref={place} aria-hidden className="min-w-0 flex-1 overflow-hidden" style={{ height }} />
}

type ChartState = { series: Series; limit: number; ceiling: number }

function createChartOptions(element: HTMLElement, readState: () => ChartState): UPlot.Options {
  const style = getComputedStyle(element)
  const color = (name: string) => style.getPropertyValue(name).trim()
  const limitColor = color('--edge')
  return {
    width: element.clientWidth,
    height,
    padding: [2, 0, 2, 0],
    cursor: { show: false },
    legend: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: {
      x: {
        time: false,
        range: () => {
          const end = readState().series.times.at(-1) ?? 0
          return [end - historySeconds, end]
        },
      },
      y: { range: () => [0, readState().ceiling] },
    },
    series: [
      {},
      {
        stroke: color('--accent'),
        fill: color('--accent-soft'),
        width: 1.5,
        spanGaps: false,
        points: { show: false },
      },
    ],
    hooks: {
      drawClear: [
        ({ ctx, bbox, valToPos }) => {
          const y = Math.round(valToPos(readState().limit, 'y', true)) + 0.5
          ctx.save()
          ctx.strokeStyle = limitColor
          ctx.lineWidth = devicePixelRatio
          ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
          ctx.beginPath()
          ctx.moveTo(bbox.left, y)
          ctx.lineTo(bbox.left + bbox.width, y)
          ctx.stroke()
          ctx.restore()
        },
      ],
    },
  }
}

function toChartData({ times, values }: Series): UPlot.AlignedData {
  return [[...times], [...values]]
}
