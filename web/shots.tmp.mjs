import fs from 'node:fs'; import { chromium } from 'playwright-core';
const {url,cookie}=JSON.parse(fs.readFileSync('/tmp/wt-exp/s/env.json'));const ids=JSON.parse(fs.readFileSync('/tmp/wt-exp/s/ids.json'));
const real='http://'+/listening at ([\d.:]+)\)/.exec(fs.readFileSync('/tmp/wt-exp/s/log','utf8'))[1];
const b=await chromium.launch({executablePath:'/usr/bin/chromium',args:['--no-sandbox','--disable-dev-shm-usage','--disable-gpu']});
const [n,v]=cookie.split(/=(.*)/s); fs.mkdirSync('/tmp/wt-exp/png',{recursive:true});
const list=process.argv.slice(2);
const all={exps:'/experiments',exp:`/experiments/${ids.exp}`,board:`/experiments/${ids.exp}?tab=leaderboard`,trend:`/experiments/${ids.exp}?tab=trend`,verdicts:`/judges?run=${ids.runs[0]}`,cal:`/judges?run=${ids.runs[0]}&tab=calibration`,labels:`/judges?run=${ids.runs[0]}&tab=labels`,prompts:'/judges',label:`/label?run=${ids.runs[0]}`,gates:'/gates',gate:`/gates/${ids.gate??'new'}?run=${ids.runs[0]}&baseline=${ids.runs[1]}`};
for(const key of list.length?list:Object.keys(all)) for(const [w,theme] of [[1280,'light'],[390,'dark']]){
 const c=await b.newContext({viewport:{width:w,height:w===390?800:900},colorScheme:theme,locale:'en-GB'});await c.addCookies([{name:n,value:v,url:real}]);
 const p=await c.newPage();p.on('pageerror',e=>console.log(key,String(e)));p.on('console',m=>m.type()==='error'&&console.log(key,m.text()));await p.goto(real+all[key]);await p.locator('h1').first().waitFor();await p.waitForTimeout(1500);
 if(key==='gate'){await p.getByRole('button',{name:'Check the run'}).click().catch(()=>{});await p.waitForTimeout(1200)}
 await p.screenshot({path:`/tmp/wt-exp/png/${key}-${w}.png`,fullPage:true});await c.close()}
await b.close();
