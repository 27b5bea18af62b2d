// A chart by ECharts. The library is large: only parts that are loaded on demand import this file.
import { useComputedColorScheme } from '@mantine/core';
import type { EChartsOption } from 'echarts';
import { CustomChart, HeatmapChart, LineChart, ParallelChart } from 'echarts/charts';
import { GridComponent, MarkLineComponent, TooltipComponent, VisualMapContinuousComponent } from 'echarts/components';
import { type ECharts, init, use as register } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { useEffect, useRef } from 'react';
import { ScrollBox } from './scroll';

register([
  CustomChart,
  HeatmapChart,
  LineChart,
  ParallelChart,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
  SVGRenderer,
]);

/** The colours of the page in its present theme: ECharts computes with them and cannot use names of CSS variables. */
const names = {
  text: '--mantine-color-text',
  dimmed: '--mantine-color-dimmed',
  ground: '--cv-card',
  line: '--cv-line',
  mark: '--cv-mark',
};
export type Colours = Record<keyof typeof names, string>;
type Pair = [number, number];
type Sizes = { contentSize: Pair };

/**
 * Plot draws a chart. tip is the text at the nth mark: it is never read as HTML, because names and values come from
 * models and users.
 */
export function Plot({
  label,
  height,
  minWidth = 300,
  maxWidth,
  option,
  tip,
}: {
  label: string;
  height: number;
  minWidth?: number;
  maxWidth?: number;
  option: (c: Colours) => EChartsOption;
  tip: (n: number) => string;
}) {
  useComputedColorScheme(); // a change of the theme draws the chart again
  const at = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts>(undefined);
  useEffect(() => {
    const el = at.current!;
    const made = init(el, null, { renderer: 'svg' });
    const sized = new ResizeObserver(() => made.resize());
    sized.observe(el);
    chart.current = made;
    return () => {
      sized.disconnect();
      made.dispose();
    };
  }, []);
  useEffect(() => {
    const css = getComputedStyle(at.current!);
    const c = Object.fromEntries(Object.entries(names).map(([k, v]) => [k, css.getPropertyValue(v)])) as Colours;
    chart.current!.setOption(
      {
        animation: false,
        textStyle: { fontFamily: css.fontFamily, fontSize: 11, color: c.text },
        tooltip: {
          // In the part of the chart that its box shows.
          position: ([x, y]: Pair, _of: unknown, _el: unknown, _rect: unknown, { contentSize: [w, h] }: Sizes) => {
            const { scrollLeft: left, clientWidth } = at.current!.parentElement!;
            const below = y + 14 + h <= height;
            return [Math.max(left, Math.min(x + 14, left + clientWidth - w)), below ? y + 14 : Math.max(0, y - 14 - h)];
          },
          transitionDuration: 0,
          backgroundColor: c.ground,
          borderColor: c.line,
          textStyle: { color: c.text, fontSize: 12 },
          extraCssText: 'max-width: 300px; white-space: pre-line; overflow-wrap: anywhere',
          formatter: (of: { dataIndex: number }) => {
            const text = document.createElement('div');
            text.textContent = tip(of.dataIndex);
            return text;
          },
        },
        ...option(c),
      },
      { notMerge: true },
    );
  });
  return (
    <ScrollBox label={label}>
      <div ref={at} role="img" aria-label={label} style={{ height, minWidth, maxWidth }} />
    </ScrollBox>
  );
}
